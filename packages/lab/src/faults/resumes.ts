import { asSeconds } from '../terminal/table.ts';
import type { Fault } from './fault-kinds.ts';
import { takesOf } from './fault-traits.ts';
import type { CampaignHistory } from './history.ts';
import type { PollEvent } from './observer.ts';

// The time from the kill of a worker to the next claim of each of its polls, and the faults in between, which can
// explain a long wait.

export interface Resume {
  readonly pollId: string;
  /** The epoch whose worker was killed. */
  readonly epoch: number;
  readonly killedAt: number;
  readonly claimedAt: number;
  /** The end of its lease; before that no other worker may claim the poll. */
  readonly freeAt: number;
}

/** A claim by another worker does not use these links. */
const UNUSED_LINKS = /-(models|callers)$/;

/** The maximum wait of a poll, and the longer one if a master was hit while the poll could have been claimed. */
const WITHIN_MS = { worker: 15_000, master: 30_000 } as const;

/** A wait with its limit. */
export interface JudgedWait {
  readonly cause: keyof typeof WITHIN_MS;
  readonly withinMs: number;
  /** Without the time in which other faults were active. */
  readonly ms: number;
  readonly wholeMs: number;
}

/**
 * Another fault excuses a wait only for the time it was active. Leaving out whole waits that contain a fault would be
 * biased: a longer wait is more likely to contain one.
 */
export function judgedWait(resume: Resume, faults: readonly Fault[]): JudgedWait {
  const needed = faults.filter(({ kind, target }) => takesOf(kind) !== 'nothing' && !UNUSED_LINKS.test(target));
  const [ofMasters, others] = [true, false].map((is) =>
    needed.filter(({ kind }) => (takesOf(kind) === 'master') === is),
  ) as [Fault[], Fault[]];
  const inTime = { ...resume, claimedAt: resume.killedAt + WITHIN_MS.worker };
  // The deadline for the claim moves by the excused time.
  const inTimeLeft = { ...inTime, claimedAt: inTime.claimedAt + unionMs(meanwhile(inTime, others)) };
  const cause = meanwhile(inTimeLeft, ofMasters).length > 0 ? 'master' : 'worker';
  const wholeMs = tookMs(resume);
  return { cause, withinMs: WITHIN_MS[cause], ms: wholeMs - unionMs(meanwhile(resume, others)), wholeMs };
}

export const tookMs = ({ killedAt, claimedAt }: Resume): number => claimedAt - killedAt;

/** How long it waited for a worker after its lease had ended. */
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

/** The faults during the wait of a poll, cut to that time. */
export const meanwhile = ({ killedAt, claimedAt }: Resume, faults: readonly Fault[]): readonly Fault[] =>
  faults
    .filter(({ at, until }) => at < claimedAt && until > killedAt)
    .map((fault) => ({ ...fault, at: Math.max(fault.at, killedAt), until: Math.min(fault.until, claimedAt) }));

/** The length of a wait without the time in which Postgres or Redis was down. */
export const withStoresMs = (resume: Resume, faults: readonly Fault[]): number =>
  tookMs(resume) - unionMs(meanwhile(resume, faults).filter(({ kind }) => takesOf(kind) === 'store'));

/** Total time in which at least one of these faults was active. */
function unionMs(faults: readonly Fault[]): number {
  let [sum, seenUntil] = [0, 0];
  for (const { at, until } of faults.toSorted((a, b) => a.at - b.at)) {
    sum += Math.max(0, until - Math.max(at, seenUntil));
    seenUntil = Math.max(seenUntil, until);
  }
  return sum;
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
