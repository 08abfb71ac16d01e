import type { NewPoll } from '@eloquentpoll/storage';
import type { World } from './world.ts';

// A client that wants one poll and retries: each try goes to another gateway with the same Idempotency-Key, until an
// answer is definite. A gateway stores the poll and then queues it, and may die in between.

export interface PlacedOrder {
  readonly key: string;
  readonly atMs: number;
  readonly holdU: bigint;
  readonly poll: Omit<NewPoll, 'id' | 'resultId'>;
}

export type OrderOutcome = { readonly kind: 'accepted'; readonly pollId: string } | { readonly kind: 'refused' };

const TRY_AGAIN_MS = 2_000;

export function place(world: World, order: PlacedOrder): Promise<OrderOutcome> {
  const { clock, effects, store, bus } = world;
  return new Promise((resolve) => {
    let tries = 0;
    clock.after(order.atMs, tryOnce);

    function tryOnce(): void {
      const number = ++tries;
      const gateway = world.process(`gateway ${order.key}.${number}`);
      const id = `ps_${order.key}_${number}`;
      const retry = clock.after(TRY_AGAIN_MS, tryOnce);
      const definite = (outcome: OrderOutcome) => {
        if (number !== tries) return;
        retry();
        resolve(outcome);
      };
      void submit().catch(() => {});

      async function submit(): Promise<void> {
        const accepted = await effects.perform(gateway, 'store', 'accept', id, () =>
          store.accept({
            poll: { ...order.poll, id, resultId: `EP-${id}` },
            holdU: order.holdU,
            idempotency: { principal: 'client', key: order.key, fingerprint: 'same' },
          }),
        );
        if (accepted.kind === 'insufficient') return definite({ kind: 'refused' });
        if (accepted.kind !== 'accepted' && accepted.kind !== 'joined')
          throw new Error(`the same request cannot be ${accepted.kind}`);
        // If the queue does not get it, a sweep finds it.
        if (accepted.kind === 'accepted')
          await effects.perform(gateway, 'bus', 'enqueue', id, () => bus.enqueue(id)).catch(() => {});
        definite({ kind: 'accepted', pollId: accepted.pollId });
      }
    }
  });
}
