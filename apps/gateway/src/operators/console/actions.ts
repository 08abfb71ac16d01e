import { deadlineMsOf, holdOf, isPollId, newPollId, newResultId } from '@eloquentpoll/polls';
import { acceptPoll, buriedPolls, freeLease, noteBuriedSeen, noteRetried } from '@eloquentpoll/storage';
import type { OperatorsContext } from '../context.ts';

// What an operator can do: take a running poll from a worker that hangs, ask again what was given up, and put a dead
// letter aside. Each may be done twice without harm, and is written down.

export const OUTCOMES = {
  released: 'The poll was taken from its worker; another one goes on with it.',
  retried: 'A new poll asks the same, at our expense; its result is in the history of who asked.',
  seen: 'The dead letter is put aside.',
  gone: 'Nothing to do: it has ended, or somebody was faster.',
  no_money: 'The free pool, which pays for a retry, has not enough left today.',
} as const;
export type Outcome = keyof typeof OUTCOMES;

export type Action = (context: OperatorsContext, id: string) => Promise<Outcome>;

const release: Action = async (context, id) => {
  const freed = isPollId(id) ? await freeLease(context.storage, id) : null;
  if (!freed) return 'gone';
  await enqueue(context, id, freed.epoch);
  return 'released';
};

/**
 * A poll that has ended stays ended, and its caller may have asked again already. So a retry is a poll of its own, for
 * the same account, paid by the pool of free polls and bounded by its daily cap.
 */
const retry: Action = async (context, id) => {
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
    // Whoever presses twice gets the same poll.
    idempotency: { principal: 'operator', key: `letter:${id}`, fingerprint: buried.pollId },
    free: { dailyCapU: context.config.freeDailyCapU },
  });
  if (accepted.kind === 'insufficient') return 'no_money';
  if (accepted.kind === 'reused') return 'gone';
  await noteRetried(context.storage, buried.letterId, accepted.pollId);
  if (accepted.kind === 'accepted') await enqueue(context, accepted.pollId, 0);
  return 'retried';
};

const seen: Action = async ({ storage }, id) => {
  const letterId = letterOf(id);
  return letterId !== null && (await noteBuriedSeen(storage, letterId)) ? 'seen' : 'gone';
};

export const ACTIONS: Readonly<Record<string, Action>> = { release, retry, seen };

/** When Redis is away, the sweep finds the poll. */
async function enqueue({ bus, log }: OperatorsContext, pollId: string, epoch: number): Promise<void> {
  await bus
    .enqueuePoll(pollId, epoch)
    .catch((error) => log.warn({ pollId, err: error }, 'poll not queued; the sweep will find it'));
}

const letterOf = (text: string): bigint | null => (/^\d{1,18}$/.test(text) ? BigInt(text) : null);
