import { setTimeout as sleep } from 'node:timers/promises';
import type { ProgressSnapshot } from '@eloquentpoll/contracts';
import type { Panels } from '@eloquentpoll/models/panels';
import { createFundedAccount } from '../fixture/accounts.ts';
import { anyQuestion, specOf, submit } from '../fixture/polls.ts';
import type { Stores } from '../fixture/stores.ts';
import { chance } from '../terminal/chance.ts';
import type { AcceptedPoll, Arrival } from './history.ts';

// Clients: so many polls at once, the next as soon as one has ended, and every accepted poll watched to its end. They
// note when a poll was accepted and when each of its votes stood in the run record.

export interface LoadOptions {
  stores: Stores;
  panels: Panels;
  seed: string;
  inFlight: number;
  deadlineMs: number;
  signal: AbortSignal;
}

export interface Load {
  readonly accepted: readonly AcceptedPoll[];
  readonly arrivals: readonly Arrival[];
  readonly running: number;
  /** No further polls; resolves when all have ended, or `withinMs` later. */
  finish(withinMs: number): Promise<void>;
  /** Rejects when a poll was refused. */
  readonly broken: Promise<never>;
}

const LOOK_EVERY_MS = 200;

export async function startLoad(options: LoadOptions): Promise<Load> {
  const { stores, panels, inFlight, deadlineMs, signal } = options;
  const draw = chance(`${options.seed}|polls`);
  const accountId = await createFundedAccount(stores.storage);
  const accepted: AcceptedPoll[] = [];
  const arrivals: Arrival[] = [];
  const running = new Map<string, () => void>();
  let submitting = 0;
  let over = false;
  let quitAt = Number.POSITIVE_INFINITY;

  async function ask(): Promise<void> {
    const spec = specOf(panels, anyQuestion(draw));
    const seatOf = new Map(spec.seats.map((seat, index) => [seat.model_id, index]));
    let unwatch = () => {};
    const pollId = await submit(stores, accountId, spec, deadlineMs, async (id) => {
      const watch = await stores.bus.watchPoll(id, (snapshot) => note(id, seatOf, snapshot));
      unwatch = () => watch.close();
    });
    const at = Date.now();
    accepted.push({ pollId, at, deadlineAt: at + deadlineMs });
    running.set(pollId, unwatch);
  }

  function note(pollId: string, seatOf: Map<string, number>, snapshot: ProgressSnapshot | null): void {
    const seat = seatOf.get(snapshot?.vote?.model_id ?? '');
    if (seat !== undefined) arrivals.push({ pollId, seat, at: Date.now() });
  }

  async function lookForEnds(): Promise<void> {
    if (running.size === 0) return;
    const ended = await stores.storage.db
      .selectFrom('polls')
      .select('id')
      .where('id', 'in', [...running.keys()])
      .where('status', '<>', 'running')
      .execute();
    for (const { id } of ended) {
      running.get(id)?.();
      running.delete(id);
    }
  }

  async function drive(): Promise<void> {
    while (!signal.aborted && Date.now() < quitAt && !(over && submitting + running.size === 0)) {
      while (!over && submitting + running.size < inFlight) {
        submitting += 1;
        void ask()
          .catch(breakDown)
          .finally(() => {
            submitting -= 1;
          });
      }
      await sleep(LOOK_EVERY_MS);
      await lookForEnds();
    }
    for (const unwatch of running.values()) unwatch();
  }

  const { promise: broken, reject: breakDown } = Promise.withResolvers<never>();
  broken.catch(() => {});
  const driving = drive();
  driving.catch(breakDown);
  return {
    accepted,
    arrivals,
    get running() {
      return running.size;
    },
    broken,
    async finish(withinMs) {
      over = true;
      quitAt = Date.now() + withinMs;
      await driving;
    },
  };
}
