import { drawPlay } from './draw-play.ts';
import { type OnSeed, playEachSeed, type SeedFigures, type Simulation } from './each-seed.ts';
import { latenessMs, WORLD_RULES } from './world/judge-world.ts';
import { type Played, playWorld } from './world/play-world.ts';

// Simulates complete workers: many worlds, each with a store, a queue, leases and faults.

export interface WorldFigures extends SeedFigures {
  worlds: number;
  polls: number;
  steps: number;
  /** By kind of fault. */
  faults: Record<string, number>;
  calls: number;
  /** Calls for a vote that had been asked for before. */
  repeatedCalls: number;
  /** Those of them that were unnecessary, by workers that could not know. */
  blindCalls: number;
  fencedWrites: number;
  buried: number;
  stored: Record<'completed' | 'failed', number>;
  /** The maximum time from the deadline, or the last fault if later, to the end of a poll. */
  latestMs: number;
}

export async function simulateWorlds(seed: string, worlds: number, onSeed?: OnSeed): Promise<WorldFigures> {
  const figures: WorldFigures = {
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
  };
  const simulation: Simulation<Played> = {
    rules: WORLD_RULES,
    play: (name) => playWorld(drawPlay(name)),
    replayKey,
    count: (played) => count(figures, played),
  };
  await playEachSeed(simulation, figures, { seed, plays: worlds, onSeed });
  return figures;
}

/** Everything about a world that must be equal in a repetition. */
const replayKey = ({ world, endedAtMs }: Played): string =>
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
