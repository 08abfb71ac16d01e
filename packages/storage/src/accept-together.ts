import { laneOf } from '@eloquentpoll/polls';
import { type Acceptance, type Accepted, acceptanceJson, acceptPoll } from './accept-poll.ts';
import { lessKnown } from './errors.ts';
import { gatherBy } from './gather.ts';
import type { Storage } from './open-storage.ts';

// Polls of one account that come while one of it is being accepted: the next call of the SQL function accept_polls takes
// all of them. Where anything stands in the way of one, each is accepted by itself, and hears what it was.

/** Runs the calls of one payer, so many at once as may be. Throws `lost`, if there is one, where no turn comes. */
type AcceptCalls = <T>(payer: string, call: () => Promise<T>, lost?: unknown) => Promise<T>;

const MAX_TOGETHER = 16;

/** Of one gateway. Free polls share one payer, and wait for each other in an order of their own: they are accepted alone. */
export function pollAccepter(
  storage: Storage,
  calls: AcceptCalls,
  onLost?: (error: unknown) => void,
): (acceptance: Acceptance) => Promise<Accepted> {
  // After a joint call that was lost, only a call of its own can say whether there is a poll.
  const alone = (one: Acceptance, lost?: unknown) =>
    calls(
      payerOf(one),
      () =>
        acceptPoll(storage, one).catch((error: unknown) => {
          throw lessKnown(lost, error);
        }),
      lost,
    );
  const gathered = gatherBy(likenessOf, {
    alone,
    together: (all) => calls(payerOf(all[0]!), () => acceptAll(storage, all)),
    onLost,
    max: MAX_TOGETHER,
    atOnce: 1,
  });
  return (one) => (mayShare(one) ? gathered(one) : alone(one));
}

const payerOf = ({ free, poll }: Acceptance): string => (free ? 'free pool' : poll.accountId!);

const mayShare = ({ free, limits, poll }: Acceptance): boolean =>
  free === undefined && limits !== undefined && poll.tenant !== undefined;

/** What polls of one call have in common. */
const likenessOf = ({ poll, limits, ceiling, providerMaxU }: Acceptance): string =>
  [
    ...[poll.accountId, poll.tenant, poll.keyId, laneOf(poll.spec), limits?.running, limits?.runningOfKey],
    ...(ceiling && providerMaxU !== undefined ? [ceiling.hourU, ceiling.dayU] : []),
  ].join();

/** In one transaction: all of them, or none, and then no answer to any. */
async function acceptAll(storage: Storage, all: readonly Acceptance[]): Promise<Accepted[]> {
  const requests = `[${all.map(acceptanceJson).join(',')}]`;
  const [row] = await storage.call<{ waiting: number | null }>('select accept_polls($1::jsonb) as waiting', [requests]);
  const { waiting } = row!;
  return waiting === null
    ? []
    : all.map(({ poll }, place) => ({ kind: 'accepted', pollId: poll.id, rank: waiting + place }));
}
