import type { ServiceTier } from '@eloquentpoll/contracts';
import { deadlineMsOf, holdOf, laneOf, newPollId, newResultId, OPERATOR_ENTRY } from '@eloquentpoll/polls';
import { acceptPoll, buriedPolls, freeLease, noteBuriedSeen, noteRetried } from '@eloquentpoll/storage';
import type { OperatorsContext } from '../context.ts';
import { OF_POLL, OF_ROW, type OperatorAction } from './operator-action.ts';

// Releases a running poll from a hanging worker, retries a dead letter, or marks it as seen. All are idempotent.

export const release: OperatorAction = {
  label: 'Take from its worker',
  subject: OF_POLL,
  fields: [],
  async perform(context, { subject }) {
    const freed = await freeLease(context.storage, subject);
    if (!freed) return { outcome: 'gone' };
    await enqueue(context, subject, freed);
    return { outcome: 'released' };
  },
};

/**
 * Starts a new poll for the same account, because an ended poll stays ended and its caller may have asked again
 * already. The free pool pays for it, within its daily cap.
 */
export const retry: OperatorAction = {
  label: 'Ask again',
  subject: OF_ROW,
  fields: [],
  async perform(context, { subject }) {
    const [buried] = await buriedPolls(context.storage, 1, BigInt(subject));
    if (!buried) return { outcome: 'gone' };
    const { spec, accountId } = buried;
    const accepted = await acceptPoll(context.storage, {
      poll: {
        id: newPollId(context.config.cell),
        resultId: newResultId(context.config.cell),
        accountId,
        spec,
        deadlineMs: deadlineMsOf(spec),
        entryPoint: OPERATOR_ENTRY,
      },
      holdU: holdOf(spec),
      // A second click gets the same poll.
      idempotency: { principal: 'operator', key: `letter:${subject}`, fingerprint: buried.pollId },
      free: { dailyCapU: context.config.freeDailyCapU },
    });
    if (accepted.kind === 'insufficient') return { outcome: 'no_money' };
    if (accepted.kind !== 'accepted' && accepted.kind !== 'joined') return { outcome: 'gone' };
    await noteRetried(context.storage, buried.letterId, accepted.pollId);
    if (accepted.kind === 'accepted') await enqueue(context, accepted.pollId, { epoch: 0, lane: laneOf(spec) });
    return { outcome: 'retried', facts: { poll_id: accepted.pollId } };
  },
};

export const seen: OperatorAction = {
  label: 'Put aside',
  subject: OF_ROW,
  fields: [],
  async perform({ storage }, { subject }) {
    return { outcome: (await noteBuriedSeen(storage, BigInt(subject))) ? 'seen' : 'gone' };
  },
};

/** While Redis is away, the sweep enqueues the poll later. */
export async function enqueue(
  { bus, log }: OperatorsContext,
  pollId: string,
  { epoch, lane }: { epoch: number; lane: ServiceTier },
): Promise<void> {
  await bus
    .enqueuePoll(pollId, { round: epoch, lane })
    .catch((error) => log.warn({ poll_id: pollId, err: error }, 'poll.enqueue_failed'));
}
