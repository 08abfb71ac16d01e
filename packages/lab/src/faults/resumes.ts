import { asSeconds } from '../terminal/table.ts';
import type { Fault, FaultKind } from './fault-kinds.ts';
import type { CampaignHistory } from './history.ts';
import type { PollEvent } from './observer.ts';

// From the kill of a worker to the next claim of each poll that it held, and the faults in between, which explain a long
// wait.

export interface Resume {
  readonly pollId: string;
  /** The epoch that lost its worker. */
  readonly epoch: number;
  readonly killedAt: number;
  readonly claimedAt: number;
}

const STORES: readonly FaultKind[] = [
  'kill redis',
  'kill redis, lose all',
  'stop postgres at once',
  'kill postgres',
  'disk full',
];

export const tookMs = ({ killedAt, claimedAt }: Resume): number => claimedAt - killedAt;

export function resumesOf({ journal, faults }: Pick<CampaignHistory, 'journal' | 'faults'>): Resume[] {
  const byPoll = Map.groupBy(journal, ({ pollId }) => pollId);
  const kills = Map.groupBy(
    faults.filter(({ kind, worker }) => kind === 'kill worker' && worker),
    ({ worker }) => worker!,
  );
  const next = (events: readonly PollEvent[], i: number): Resume[] => {
    const { pollId, epoch, worker, kind, at } = events[i]!;
    const after = events[i + 1];
    const [kill] = kind === 'claimed' && worker ? (kills.get(worker) ?? []) : [];
    if (!kill || after?.kind !== 'claimed' || kill.until < at) return [];
    // Another worker had claimed it before the kill.
    return after.at < kill.until ? [] : [{ pollId, epoch, killedAt: kill.until, claimedAt: after.at }];
  };
  return [...byPoll.values()].flatMap((events) => events.flatMap((_, i) => next(events, i)));
}

/** The faults while a poll waited, cut to that time. */
export const meanwhile = ({ killedAt, claimedAt }: Resume, faults: readonly Fault[]): readonly Fault[] =>
  faults
    .filter(({ at, until }) => at < claimedAt && until > killedAt)
    .map((fault) => ({ ...fault, at: Math.max(fault.at, killedAt), until: Math.min(fault.until, claimedAt) }));

/** Of a wait, without the time in which Postgres or Redis was away. */
export function withStoresMs(resume: Resume, faults: readonly Fault[]): number {
  const away = meanwhile(resume, faults).filter(({ kind }) => STORES.includes(kind));
  let [lost, seenUntil] = [0, 0];
  for (const { at, until } of away.toSorted((a, b) => a.at - b.at)) {
    lost += Math.max(0, until - Math.max(at, seenUntil));
    seenUntil = Math.max(seenUntil, until);
  }
  return tookMs(resume) - lost;
}

export const slowestLines = (resumes: readonly Resume[], faults: readonly Fault[], count: number): string[] =>
  resumes
    .toSorted((a, b) => tookMs(b) - tookMs(a))
    .slice(0, count)
    .map((resume) => {
      const struck = meanwhile(resume, faults).map(
        ({ kind, target, at, until }) =>
          `${kind} ${target} at ${asSeconds(at - resume.killedAt)} for ${asSeconds(until - at)}`,
      );
      return `  ${resume.pollId} epoch ${resume.epoch} waited ${asSeconds(tookMs(resume))}: ${struck.join('; ')}`;
    });
