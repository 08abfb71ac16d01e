import type { ProcessStart } from '../fleet.ts';
import type { CampaignHistory } from '../history.ts';

// What is judged in addition if two releases worked on the same stores.

export interface UpgradeHistory {
  readonly from: string;
  readonly started: readonly ProcessStart[];
  readonly answersJudged: number;
  readonly wrongAnswers: readonly string[];
  /** Calls of the published clients, by their release. */
  readonly clientCalls: Readonly<Record<string, number>>;
  readonly clientFailures: readonly string[];
  /** Differences between the migrated database and a new one. */
  readonly schema: readonly string[];
}

/** Numbers of polls that more than one release worked on. */
export interface SharedPolls {
  readonly acceptedByOldRunByNew: number;
  readonly acceptedByNewRunByOld: number;
  /** Claimed by workers of both releases. */
  readonly takenOver: number;
}

export function sharedPolls({ upgrade, journal, operations, polls }: CampaignHistory): SharedPolls {
  if (!upgrade) return { acceptedByOldRunByNew: 0, acceptedByNewRunByOld: 0, takenOver: 0 };
  const { started, from } = upgrade;
  const ofWorker = new Map(started.flatMap(({ worker, release }) => (worker === null ? [] : [[worker, release]])));
  const claimedBy = new Map<string, Set<string | null>>();
  for (const { pollId, worker } of journal) {
    if (worker === null) continue;
    const releases = claimedBy.get(pollId) ?? new Set();
    claimedBy.set(pollId, releases.add(ofWorker.get(worker) ?? null));
  }
  const releaseAt = (slot: string, at: number): string | null =>
    started.findLast((start) => start.slot === slot && start.at <= at)?.release ?? null;
  const idOf = new Map(polls.flatMap(({ id, resultId }) => [[id, id] as const, [resultId, id] as const]));
  let [acceptedByOldRunByNew, acceptedByNewRunByOld] = [0, 0];
  for (const { attempts, named } of operations) {
    const [first] = attempts;
    const claims = [...named].map((name) => claimedBy.get(idOf.get(name) ?? name)).find(Boolean);
    // If an attempt got no answer, it is not known which gateway accepted the poll.
    if (!first || !claims || attempts.some(({ status }) => status === null)) continue;
    const by = releaseAt(first.gateway, first.asked);
    if (by === from && [...claims].some((release) => release !== from)) acceptedByOldRunByNew += 1;
    if (by !== from && claims.has(from)) acceptedByNewRunByOld += 1;
  }
  const takenOver = [...claimedBy.values()].filter((releases) => releases.size > 1).length;
  return { acceptedByOldRunByNew, acceptedByNewRunByOld, takenOver };
}
