import type { CampaignHistory } from '../history.ts';
import { type CampaignRule, countBy } from './rule.ts';

/** Long, because Postgres may be down when an overdue poll is to be taken from its worker. */
const LATE_MS = 60_000;

export const STORED: CampaignRule = {
  name: 'every poll and batch that was named to a caller is stored',
  broken({ operations, polls, batches }) {
    const stored = new Set([...polls.flatMap(({ id, resultId }) => [id, resultId]), ...batches.map(({ id }) => id)]);
    return operations.flatMap(({ n, kind, named, erasure }) =>
      // Deleted batches do not count.
      [...named]
        .filter((id) => !stored.has(id) && (erasure === undefined || erasure.what === 'poll'))
        .map((id) => `operation ${n} (${kind}) was given ${id}`),
    );
  },
};

/** How many times each poll has ended. */
const endsOf = ({ journal }: Pick<CampaignHistory, 'journal'>): Map<string, number> =>
  countBy(
    journal.filter(({ kind }) => kind === 'ended'),
    ({ pollId }) => pollId,
  );

interface EndByWorker {
  readonly pollId: string;
  readonly by: string;
  /** Whose claim was the newest. */
  readonly claimant: string;
}

/**
 * The ends that can be held against a worker. The row of a poll cannot say who ended it: its epoch is that of the newest
 * claim, whichever worker writes. So an end is that of the worker that claims over the same connection; of a connection that
 * never claimed, nothing is known, and behind a pooler workers share connections.
 */
export function endsByWorkers({ journal, pooled }: Pick<CampaignHistory, 'journal' | 'pooled'>): EndByWorker[] {
  if (pooled) return [];
  const workerOf = new Map(
    journal.flatMap(({ connection, worker }) => (worker === null ? [] : [[connection, worker] as const])),
  );
  const claimants = new Map<string, string>();
  return journal.flatMap(({ pollId, kind, worker, connection }) => {
    if (kind === 'claimed' && worker !== null) claimants.set(pollId, worker);
    const [by, claimant] = [workerOf.get(connection), claimants.get(pollId)];
    return kind === 'ended' && by !== undefined && claimant !== undefined ? [{ pollId, by, claimant }] : [];
  });
}

/** Accepted polls that did not end, and polls named to a caller that no longer exist. */
export function lostPolls(history: CampaignHistory): number {
  const ends = endsOf(history);
  const endless = history.polls.filter(({ id, status }) => status === 'running' || !ends.has(id));
  return endless.length + STORED.broken(history).length;
}

export const pollRules: readonly CampaignRule[] = [
  STORED,
  {
    name: 'every accepted poll ends, once',
    broken({ polls, journal }) {
      const ends = endsOf({ journal });
      return polls
        .filter(({ id, status }) => status === 'running' || ends.get(id) !== 1)
        .map(({ id, status }) => `${id} is ${status} and ended ${ends.get(id) ?? 0} times`);
    },
  },
  {
    name: 'no poll is given up',
    broken: ({ polls }) => polls.filter(({ buried }) => buried).map(({ id, claims }) => `${id} after ${claims} claims`),
  },
  {
    name: `every poll ends within ${LATE_MS / 1_000} s of its deadline`,
    broken: ({ polls }) =>
      polls
        .filter(({ finishedAt, deadlineAt }) => finishedAt !== null && finishedAt > deadlineAt + LATE_MS)
        .map(({ id, finishedAt, deadlineAt }) => `${id} ended ${Math.round(finishedAt! - deadlineAt)} ms late`),
  },
  {
    name: 'a poll is ended by the worker that has claimed it',
    broken: (history) =>
      endsByWorkers(history)
        .filter(({ by, claimant }) => by !== claimant)
        .map(({ pollId, by, claimant }) => `${pollId} was ended by ${by}, and is ${claimant}'s`),
  },
  {
    name: 'nothing that was stored at an end changes afterwards, unless it is deleted',
    broken({ rewrites, polls }) {
      const emptied = new Set(polls.filter(({ isEmptied }) => isEmptied).map(({ id }) => id));
      return rewrites.filter(({ pollId }) => !emptied.has(pollId)).map(({ pollId, what }) => `${pollId}: ${what}`);
    },
  },
  {
    // Other rules leave out what is empty.
    name: 'only what its caller deletes is emptied',
    broken({ operations, polls }) {
      const deleted = new Set(operations.flatMap(({ erasure, named }) => (erasure ? [...named] : [])));
      return polls
        .filter(({ isEmptied }) => isEmptied)
        .filter(({ id, resultId, row }) => ![id, resultId, row?.split(' ')[0] ?? ''].some((name) => deleted.has(name)))
        .map(({ id }) => `${id} is empty, and no caller deleted it`);
    },
  },
  {
    name: 'no process ends by itself',
    broken: ({ crashes }) => [...crashes],
  },
];
