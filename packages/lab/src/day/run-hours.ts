import { setTimeout as sleep } from 'node:timers/promises';
import { machineBusy } from '../fixture/machine-busy.ts';
import { type Chance, chance } from '../terminal/chance.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { ArrivalRate } from './arrival-rate.ts';
import type { Diary } from './diary.ts';
import { anyActivity, type Hours, hoursAt } from './hours.ts';
import type { DayPlan } from './live-day.ts';
import { ownShare } from './own-share.ts';
import type { Timeline } from './timeline.ts';
import type { Activity } from './world.ts';

// Runs the day: users start activities at a rate that keeps the machine as busy as the hour requires.

export interface RunningDay {
  signal: AbortSignal;
  /** Activities that have begun and not ended. */
  open: ReadonlySet<Promise<void>>;
  begin(activity: Activity): void;
  /** A visit of a person with a browser. */
  visit: Activity | null;
  timeline: Timeline;
  diary: Diary;
  progress: ProgressLine;
}

const [TICK_MS, ADJUST_MS] = [250, 2_000];
/** Limits how many missed arrivals a late tick makes up for. */
const MAX_TICK_MS = 1_000;
const FIRST_PER_S = 6;
/** A minimum, even if the machine hangs throughout a day of seconds. */
const FEWEST_ARRIVALS = 8;
/** With more at once, we would be measuring our own queue. */
const MAX_OPEN = 400;

export async function runHours(plan: DayPlan, running: RunningDay): Promise<void> {
  const { signal, open, visit, timeline, diary, progress } = running;
  const pace = new ArrivalRate(FIRST_PER_S);
  const arrive = arrivals(running, chance(`${plan.seed}|arrivals`));
  const [own, everything] = [ownShare(), machineBusy()];
  let [busy, machine] = [0, 0];
  let looking: Promise<unknown> | null = null;
  const adjusts = every(ADJUST_MS);
  const samples = every(plan.sampleEveryMs);
  const visits = every(plan.browserEveryMs);
  const endMs = plan.minutes * 60_000;
  const began = performance.now();
  let arrived = 0;
  for (let at = 0; at < endMs || arrived < FEWEST_ARRIVALS; at = performance.now() - began) {
    signal.throwIfAborted();
    const hours = hoursAt(at / endMs);
    const wanted = Math.min(0.95, plan.load * hours.load);
    arrived += arrive(hours, pace.perSecond, at);
    if (visit && visits(at)) running.begin(visit);
    if (adjusts(at)) {
      [busy, machine] = [own(), everything()];
      pace.adjust(busy, wanted, machine);
    }
    if (looking === null && samples(at)) {
      looking = timeline
        .look({ atS: at / 1_000, hours: hours.name, wanted, busy, machine, perSecond: pace.perSecond })
        .catch((error: unknown) => diary.note(`a sample could not be taken: ${String(error)}`))
        .finally(() => {
          looking = null;
        });
    }
    const shares = `busy ${percent(busy)} of ${percent(wanted)} %, machine ${percent(machine)} %`;
    const polls = timeline.samples.at(-1)?.polls ?? 0;
    progress.show(
      `${Math.round(at / 1_000)} of ${Math.round(endMs / 1_000)} s, ${hours.name}: ${shares}, ` +
        `${pace.perSecond.toFixed(1)}/s begin, ${open.size} open, ${polls} polls, ${diary.refusedCount} refused for a moment, ${diary.wrongCount} wrong`,
    );
    await sleep(TICK_MS);
  }
  await looking;
  progress.end();
}

function arrivals({ open, begin }: RunningDay, draw: Chance): (hours: Hours, perSecond: number, at: number) => number {
  let [due, before] = [0, 0];
  return (hours, perSecond, at) => {
    const passedMs = Math.min(at - before, MAX_TICK_MS);
    before = at;
    due = Math.min(due + (perSecond * passedMs) / 1_000, MAX_OPEN - open.size);
    const arriving = Math.max(0, Math.floor(due));
    for (let n = 0; n < arriving; n++) begin(anyActivity(hours, draw));
    due -= arriving;
    return arriving;
  };
}

/** True once per period of `ms`. */
function every(ms: number): (at: number) => boolean {
  let last = 0;
  return (at) => {
    if (at - last < ms) return false;
    last = at;
    return true;
  };
}

const percent = (share: number): number => Math.round(100 * share);
