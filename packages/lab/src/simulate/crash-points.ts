import type { PollSpec } from '@eloquentpoll/contracts';
import { type Violation, violations } from './rule.ts';
import type { Fate, Step } from './world/effects.ts';
import { WORLD_RULES } from './world/judge-world.ts';
import { ACCOUNT, type Play, type Played, playWorld } from './world/play-world.ts';
import { scripted } from './world/weather.ts';
import type { Tampering } from './world/worker.ts';

// A poll of three models with a fault at each step of any process for it, first one fault at a time, then two: the
// process dies, or sleeps past its lease and resumes, or the step fails with or without effect. The second fault of a
// pair is placed at every step after the first.

export const FATES: readonly Fate[] = [
  { kind: 'crash', when: 'before' },
  { kind: 'crash', when: 'after' },
  { kind: 'pause', when: 'before', ms: 20_000 },
  { kind: 'pause', when: 'after', ms: 20_000 },
  { kind: 'fails', when: 'before' },
  { kind: 'fails', when: 'after' },
];

const SPEC: PollSpec = {
  question: 'Which of the two is it?',
  options: ['this', 'that'],
  panel_name: 'broad',
  confidence_threshold: 1,
  max_cost_u: 6_000,
  min_votes: 3,
  search: false,
  seed: 'seed',
  seats: [0, 1, 2].map((seat) => ({
    model_id: `model ${seat}`,
    family: `family ${seat}`,
    reserve_u: 2_000,
    failure_rate: 0,
    p90_ms: 500,
  })),
  simulated: true,
};

/** By the course of the poll without faults. */
export const COURSES = {
  'all three are heard': { seed: 'o', agreement: 0.5 },
  'two agree, the third is stopped': { seed: 'a', agreement: 1 },
} as const;
export type Course = keyof typeof COURSES;

type Point = readonly [step: number, fate: Fate];

export function pointPlay(course: Course, points: readonly Point[], tamper?: Tampering): Play {
  const { seed, agreement } = COURSES[course];
  return {
    seed,
    weather: scripted(new Map(points)),
    temper: { faulty: 0, agreement, favourite: 0 },
    orders: [
      {
        key: 'poll',
        atMs: 0,
        holdU: 6_000n,
        poll: { accountId: ACCOUNT, spec: SPEC, deadlineMs: 45_000, entryPoint: 'simulation' },
      },
    ],
    balanceU: 20_000n,
    workers: 2,
    concurrency: 3,
    calmAtMs: 0,
    rehireMs: 1_000,
    ...(tamper && { tamper }),
  };
}

/** Steps up to the last one that belongs to a poll. */
function stepsOf({ world }: Played): readonly Step[] {
  const { steps } = world.effects;
  return steps.slice(0, steps.findLastIndex((step) => step.pollId !== null) + 1);
}

/** Failures of models are votes, so a call to a model cannot fail as a step. */
const possible = (step: Step, fate: Fate): boolean => fate.kind !== 'fails' || step.link !== 'models';

export interface CrashPoints {
  singles: number;
  pairs: number;
  /** Pairs that the sample left out. */
  left: number;
  violations: Violation[];
}

export interface Exhaustion {
  readonly course: Course;
  /** Chooses the pairs to play by their number; without it, all are played. */
  readonly sample?: (pair: number) => boolean;
  readonly tamper?: Tampering;
  /** Ends the search at the first violation of this rule. */
  readonly untilRule?: string;
  readonly onPoint?: (done: CrashPoints) => void;
}

export async function exhaustCrashPoints({
  course,
  sample,
  tamper,
  untilRule,
  onPoint,
}: Exhaustion): Promise<CrashPoints> {
  const result: CrashPoints = { singles: 0, pairs: 0, left: 0, violations: [] };
  const name = (points: readonly Point[], steps: readonly Step[]) =>
    points
      .map(([n, fate]) => `${'when' in fate ? `${fate.kind} ${fate.when}` : fate.kind} ${n} (${steps[n]?.what})`)
      .join(', then ');
  async function play(points: readonly Point[]): Promise<Played> {
    const played = await playWorld(pointPlay(course, points, tamper));
    const where = `${course}: ${name(points, played.world.effects.steps)}`;
    result.violations.push(...violations(where, WORLD_RULES, played));
    return played;
  }
  const isOver = () => untilRule !== undefined && result.violations.some(({ rule }) => rule === untilRule);

  for (const step of stepsOf(await play([]))) {
    for (const fate of FATES.filter((each) => possible(step, each))) {
      const first: Point = [step.n, fate];
      const played = await play([first]);
      result.singles += 1;
      onPoint?.(result);
      if (isOver()) return result;
      for (const later of stepsOf(played).slice(step.n + 1)) {
        for (const second of FATES.filter((each) => possible(later, each))) {
          if (sample && !sample(result.pairs + result.left)) {
            result.left += 1;
            continue;
          }
          await play([first, [later.n, second]]);
          result.pairs += 1;
          onPoint?.(result);
          if (isOver()) return result;
        }
      }
    }
  }
  return result;
}
