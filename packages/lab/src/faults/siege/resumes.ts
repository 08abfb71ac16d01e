import { seconds } from '../../terminal/table.ts';
import type { PollEvent } from '../journal.ts';
import type { Blow, BlowKind } from './blows.ts';
import type { SiegeHistory } from './history.ts';

// From the kill of a worker to the next claim of each poll that it held, and what else was struck in between: where
// everything fails at once, a long wait has to be explained.

export interface Resume {
  readonly pollId: string;
  /** The epoch that lost its worker. */
  readonly epoch: number;
  readonly killedAt: number;
  readonly claimedAt: number;
}

const STORES: readonly BlowKind[] = [
  'kill redis',
  'kill redis, lose all',
  'stop postgres at once',
  'kill postgres',
  'disk full',
];

export const tookMs = ({ killedAt, claimedAt }: Resume): number => claimedAt - killedAt;

export function resumesOf({ journal, blows }: Pick<SiegeHistory, 'journal' | 'blows'>): Resume[] {
  const byPoll = Map.groupBy(journal, ({ pollId }) => pollId);
  const kills = Map.groupBy(
    blows.filter(({ kind, worker }) => kind === 'kill worker' && worker),
    ({ worker }) => worker!,
  );
  const next = (events: readonly PollEvent[], i: number): Resume[] => {
    const { pollId, epoch, worker, kind, at } = events[i]!;
    const after = events[i + 1];
    const [kill] = kind === 'claimed' && worker ? (kills.get(worker) ?? []) : [];
    if (!kill || after?.kind !== 'claimed' || kill.until < at) return [];
    // What another had claimed before, its worker held no more when it was killed.
    return after.at < kill.until ? [] : [{ pollId, epoch, killedAt: kill.until, claimedAt: after.at }];
  };
  return [...byPoll.values()].flatMap((events) => events.flatMap((_, i) => next(events, i)));
}

/** What was struck while a poll waited, and for how much of that time. */
export const meanwhile = ({ killedAt, claimedAt }: Resume, blows: readonly Blow[]): readonly Blow[] =>
  blows
    .filter(({ at, until }) => at < claimedAt && until > killedAt)
    .map((blow) => ({ ...blow, at: Math.max(blow.at, killedAt), until: Math.min(blow.until, claimedAt) }));

/** Of a wait, without the time in which Postgres or Redis was away. */
export function withStoresMs(resume: Resume, blows: readonly Blow[]): number {
  const away = meanwhile(resume, blows).filter(({ kind }) => STORES.includes(kind));
  let [lost, seenUntil] = [0, 0];
  for (const { at, until } of away.toSorted((a, b) => a.at - b.at)) {
    lost += Math.max(0, until - Math.max(at, seenUntil));
    seenUntil = Math.max(seenUntil, until);
  }
  return tookMs(resume) - lost;
}

export const slowestLines = (resumes: readonly Resume[], blows: readonly Blow[], count: number): string[] =>
  resumes
    .toSorted((a, b) => tookMs(b) - tookMs(a))
    .slice(0, count)
    .map((resume) => {
      const struck = meanwhile(resume, blows).map(
        ({ kind, target, at, until }) =>
          `${kind} ${target} at ${seconds(at - resume.killedAt)} for ${seconds(until - at)}`,
      );
      return `  ${resume.pollId} epoch ${resume.epoch} waited ${seconds(tookMs(resume))}: ${struck.join('; ')}`;
    });
