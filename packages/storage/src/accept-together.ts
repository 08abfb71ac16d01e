import { laneOf } from '@eloquentpoll/polls';
import { type Acceptance, type Accepted, acceptanceJson, acceptPoll } from './accept-poll.ts';
import { lessKnown } from './errors.ts';
import { gatherBy, NotSent } from './gather.ts';
import type { Storage } from './open-storage.ts';

// Polls of one account that arrive while another of its polls is being accepted are accepted together, by the next call
// of the SQL function accept_polls. If any of them cannot be accepted, each is accepted alone and gets its own answer.

/**
 * Runs the calls of one payer, a limited number at a time. If no turn comes, throws `lost` if it is given, otherwise the
 * answer to the caller.
 */
type AcceptCalls = <T>(payer: string, call: () => Promise<T>, lost?: unknown) => Promise<T>;

const MAX_TOGETHER = 16;

/** One per gateway. Free polls share one payer and are queued differently, so they are accepted alone. */
export function pollAccepter(
  storage: Storage,
  calls: AcceptCalls,
  onLost?: (error: unknown) => void,
): (acceptance: Acceptance) => Promise<Accepted> {
  // After the answer to a joint call was lost, only a separate call can find out whether the poll exists.
  const alone = (one: Acceptance, lost?: unknown) =>
    calls(
      payerOf(one),
      () =>
        acceptPoll(storage, one).catch((error: unknown) => {
          throw lessKnown(lost, error);
        }),
      lost,
    );
  async function together(all: readonly Acceptance[]): Promise<Accepted[]> {
    let hasTurn = false;
    try {
      return await calls(payerOf(all[0]!), () => {
        hasTurn = true;
        return acceptAll(storage, all);
      });
    } catch (error) {
      throw hasTurn ? error : new NotSent(error);
    }
  }
  const gathered = gatherBy(likenessOf, {
    alone,
    together,
    onLost,
    max: MAX_TOGETHER,
    atOnce: 1,
  });
  return (one) => (mayShare(one) ? gathered(one) : alone(one));
}

const payerOf = ({ free, poll }: Acceptance): string => (free ? 'free pool' : poll.accountId!);

const mayShare = ({ free, limits, poll }: Acceptance): boolean =>
  free === undefined && limits !== undefined && poll.tenant !== undefined;

/** What polls must have in common to be accepted in one call. */
const likenessOf = ({ poll, limits, ceiling, providerMaxU }: Acceptance): string =>
  [
    ...[poll.accountId, poll.tenant, poll.keyId, laneOf(poll.spec), limits?.running, limits?.runningOfKey],
    ...(ceiling && providerMaxU !== undefined ? [ceiling.hourU, ceiling.dayU] : []),
  ].join();

/** In one transaction: accepts all of them, or none and returns no answers. */
async function acceptAll(storage: Storage, all: readonly Acceptance[]): Promise<Accepted[]> {
  const requests = `[${all.map(acceptanceJson).join(',')}]`;
  const [row] = await storage.call<{ waiting: number | null }>('select accept_polls($1::jsonb) as waiting', [requests]);
  const { waiting } = row!;
  return waiting === null
    ? []
    : all.map(({ poll }, place) => ({ kind: 'accepted', pollId: poll.id, rank: waiting + place }));
}
