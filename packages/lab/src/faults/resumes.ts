import { asSeconds } from '../terminal/table.ts';
import { type Fault, type FaultKind, MASTER_FAULTS } from './fault-kinds.ts';
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
  /** When its lease had ended: before that no other worker may claim it. */
  readonly freeAt: number;
}

/** What a poll does not wait for: other processes of its kind are there. */
const PASSING: readonly FaultKind[] = [
  'kill worker',
  'kill gateway',
  'term worker',
  'term gateway',
  'stop gateway',
  'kill replica',
  'move slots',
  'flush masters',
  'reset link',
];

/** What a wait for a worker is put down to: the worker alone, a master besides, or something else besides. */
export type Cause = 'worker' | 'master' | 'other';

/** No other worker needs them to claim the poll. */
const PASSING_LINKS = /-(models|callers)$/;

/** A store, a link or a stopped process besides explains a longer wait than a worker or a master does. */
export function causeOf(resume: Resume, faults: readonly Fault[]): Cause {
  const struck = meanwhile(resume, faults).filter(
    ({ kind, target }) => !PASSING.includes(kind) && !PASSING_LINKS.test(target),
  );
  if (struck.length === 0) return 'worker';
  return struck.every(({ kind }) => MASTER_FAULTS.includes(kind)) ? 'master' : 'other';
}

/** Of these waits, those of each cause in milliseconds. */
export function waitsByCause(history: Pick<CampaignHistory, 'journal' | 'faults'>): Record<Cause, number[]> {
  const waits: Record<Cause, number[]> = { worker: [], master: [], other: [] };
  for (const resume of resumesOf(history)) waits[causeOf(resume, history.faults)].push(tookMs(resume));
  return waits;
}

const STORES: readonly FaultKind[] = [
  'kill redis',
  'kill redis, lose all',
  'stop postgres at once',
  'kill postgres',
  'kill pooler',
  'fail over',
  'disk full',
];

export const tookMs = ({ killedAt, claimedAt }: Resume): number => claimedAt - killedAt;

/** What it waited for a worker after its lease had ended. */
export const unclaimedMs = ({ killedAt, freeAt, claimedAt }: Resume): number => claimedAt - Math.max(killedAt, freeAt);

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
    return after.at < kill.until
      ? []
      : [{ pollId, epoch, killedAt: kill.until, claimedAt: after.at, freeAt: after.freeAt ?? kill.until }];
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
      const struck = meanwhile(
        resume,
        faults.filter(({ kind }) => kind !== 'move slots'),
      ).map(
        ({ kind, target, at, until }) =>
          `${kind} ${target} at ${asSeconds(at - resume.killedAt)} for ${asSeconds(until - at)}`,
      );
      const waited = `${asSeconds(tookMs(resume))}, ${asSeconds(unclaimedMs(resume))} of it after its lease`;
      return `  ${resume.pollId} epoch ${resume.epoch} waited ${waited}: ${struck.join('; ')}`;
    });
