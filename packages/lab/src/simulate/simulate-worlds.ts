import { drawPlay } from './draw-play.ts';
import { latenessMs, WORLD_RULES } from './world/judge-world.ts';
import { type Play, type Played, playWorld } from './world/play-world.ts';

// Many worlds, each from its own seed, so that a violation is repeated by one seed alone.

export interface WorldViolation {
  readonly world: string;
  readonly rule: string;
  readonly found: string;
}

export interface WorldFigures {
  worlds: number;
  polls: number;
  steps: number;
  /** By what happened to a step or a process. */
  faults: Record<string, number>;
  calls: number;
  /** Calls for votes that had been asked for before. */
  repeatedCalls: number;
  /** Of these, calls that were not needed, by a worker that could not know. */
  blindCalls: number;
  fencedWrites: number;
  buried: number;
  stored: Record<'completed' | 'failed', number>;
  /** The latest end of a poll after its deadline and the last fault. */
  latestMs: number;
  replayed: number;
  violations: WorldViolation[];
}

const REPLAY_EVERY = 50;
const MAX_VIOLATIONS = 100;
const REPEATS = 'the same seed gives the same world';
export const WORLD_PROMISES = [...WORLD_RULES.map((rule) => rule.name), REPEATS];

export const noFigures = (): WorldFigures => ({
  worlds: 0,
  polls: 0,
  steps: 0,
  faults: {},
  calls: 0,
  repeatedCalls: 0,
  blindCalls: 0,
  fencedWrites: 0,
  buried: 0,
  stored: { completed: 0, failed: 0 },
  latestMs: 0,
  replayed: 0,
  violations: [],
});

export async function simulateWorlds(
  seed: string,
  worlds: number,
  onWorld: (done: number, violations: number) => void = () => {},
): Promise<WorldFigures> {
  const figures = noFigures();
  for (let n = 0; n < worlds && figures.violations.length < MAX_VIOLATIONS; n++) {
    const name = `${seed}/${n}`;
    const played = await judged(figures, name, drawPlay(name));
    if (n % REPLAY_EVERY === 0) {
      figures.replayed += 1;
      if (replayKey(await playWorld(drawPlay(name))) !== replayKey(played))
        figures.violations.push({ world: name, rule: REPEATS, found: name });
    }
    onWorld(n + 1, figures.violations.length);
  }
  return figures;
}

/** Plays a world, judges it, and adds it to the figures. */
export async function judged(figures: WorldFigures, name: string, play: Play): Promise<Played> {
  const played = await playWorld(play);
  for (const { rule, found } of brokenRules(played)) figures.violations.push({ world: name, rule, found });
  count(figures, played);
  return played;
}

export function brokenRules(played: Played): { rule: string; found: string }[] {
  return WORLD_RULES.flatMap(({ name, broken }) => {
    const found = broken(played);
    return found === null ? [] : [{ rule: name, found }];
  });
}

/** Everything about a world that must repeat. */
export const replayKey = ({ world, endedAtMs }: Played): string =>
  JSON.stringify(
    {
      steps: world.effects.steps,
      asked: world.history.asked,
      polls: [...world.store.polls.values()],
      published: world.bus.published,
      endedAtMs,
    },
    (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  );

function count(figures: WorldFigures, played: Played): void {
  const { store, history, effects } = played.world;
  figures.worlds += 1;
  figures.steps += effects.steps.length;
  for (const { kind } of history.faults) figures.faults[kind] = (figures.faults[kind] ?? 0) + 1;
  figures.calls += history.asked.length;
  figures.repeatedCalls +=
    history.asked.length - new Set(history.asked.map(({ pollId, seat }) => `${pollId} ${seat}`)).size;
  figures.blindCalls += history.asked.filter((call) => call.known).length;
  figures.fencedWrites += history.endings.filter((ending) => ending.outcome === 'fenced').length;
  for (const poll of store.polls.values()) {
    figures.polls += 1;
    if (poll.deadLetter !== null) figures.buried += 1;
    if (poll.status !== 'running') figures.stored[poll.status] += 1;
    figures.latestMs = Math.max(figures.latestMs, latenessMs(played, poll));
  }
}
