import { providerMaxU } from '@eloquentpoll/models/panels';
import { deadlineMsOf, holdOf, isPollId, newPollId, newResultId } from '@eloquentpoll/polls';
import { acceptPoll, buriedPolls, freeLease, noteBuriedSeen, noteRetried } from '@eloquentpoll/storage';
import { spendCeiling } from '../../polls/run/spend-ceiling.ts';
import type { OperatorsContext } from '../context.ts';

// Operator actions: release a running poll from a hanging worker, retry a dead letter, mark it as seen. Each is
// idempotent and logged.

export const OUTCOMES = {
  released: 'The lease was released; another worker continues the poll.',
  retried: 'A new poll was started at our expense. Its result is in the history of the same account.',
  seen: 'The dead letter was marked as seen.',
  gone: 'Nothing to do: the poll has ended, or another operator was faster.',
  no_money: 'The free pool, which pays for retries, is used up for today, or providers may not charge more for now.',
} as const;
export type ActionOutcome = keyof typeof OUTCOMES;

export type OperatorAction = (context: OperatorsContext, id: string) => Promise<ActionOutcome>;

const release: OperatorAction = async (context, id) => {
  const freed = isPollId(id) ? await freeLease(context.storage, id) : null;
  if (!freed) return 'gone';
  await enqueue(context, id, freed.epoch);
  return 'released';
};

/**
 * Starts a new poll for the same account, because an ended poll stays ended and its caller may have asked again already.
 * Paid from the free pool, within its daily cap.
 */
const retry: OperatorAction = async (context, id) => {
  const letterId = letterOf(id);
  const [buried] = letterId === null ? [] : await buriedPolls(context.storage, 1, letterId);
  if (!buried) return 'gone';
  const { spec, accountId } = buried;
  const accepted = await acceptPoll(context.storage, {
    poll: {
      id: newPollId(),
      resultId: newResultId(),
      accountId,
      spec,
      deadlineMs: deadlineMsOf(spec.panel_name),
      entryPoint: 'operator',
    },
    holdU: holdOf(spec),
    // A second click gets the same poll.
    idempotency: { principal: 'operator', key: `letter:${id}`, fingerprint: buried.pollId },
    free: { dailyCapU: context.config.freeDailyCapU },
    providerMaxU: providerMaxU(spec),
    ceiling: spendCeiling(context, 'free'),
  });
  if (accepted.kind === 'insufficient' || accepted.kind === 'over_ceiling') return 'no_money';
  if (!('pollId' in accepted)) return 'gone';
  await noteRetried(context.storage, buried.letterId, accepted.pollId);
  if (accepted.kind === 'accepted') await enqueue(context, accepted.pollId, 0);
  return 'retried';
};

const seen: OperatorAction = async ({ storage }, id) => {
  const letterId = letterOf(id);
  return letterId !== null && (await noteBuriedSeen(storage, letterId)) ? 'seen' : 'gone';
};

export const ACTIONS: Readonly<Record<string, OperatorAction>> = { release, retry, seen };

/** Without Redis the sweep enqueues the poll later. */
async function enqueue({ bus, log }: OperatorsContext, pollId: string, epoch: number): Promise<void> {
  await bus
    .enqueuePoll(pollId, { round: epoch })
    .catch((error) => log.warn({ poll_id: pollId, err: error }, 'poll.enqueue_failed'));
}

const letterOf = (text: string): bigint | null => (/^\d{1,18}$/.test(text) ? BigInt(text) : null);
