import { type Rule, type Violation, violations } from './rule.ts';

// Many plays, each with its own seed, so that one seed is enough to repeat a violation.

export interface Simulation<Played> {
  readonly rules: readonly Rule<Played>[];
  play(seed: string): Promise<Played>;
  /** Everything about a play that must be equal in a repetition. */
  replayKey(played: Played): string;
  /** Adds a play to the figures. */
  count(played: Played): void;
}

/** Figures that every simulation has. */
export interface SeedFigures {
  /** Plays that were run twice for comparison. */
  replayed: number;
  violations: Violation[];
}

export type OnSeed = (done: number, violations: number) => void;

export const ENDS = 'every poll ends';
export const REPEATS = 'the same seed plays the same';
const REPLAY_EVERY = 50;
const MAX_VIOLATIONS = 100;

export async function playEachSeed<Played>(
  { rules, play, replayKey, count }: Simulation<Played>,
  figures: SeedFigures,
  { seed, plays, onSeed = () => {} }: { seed: string; plays: number; onSeed?: OnSeed | undefined },
): Promise<void> {
  for (let n = 0; n < plays && figures.violations.length < MAX_VIOLATIONS; n++) {
    const where = `${seed}/${n}`;
    try {
      const played = await play(where);
      if (n % REPLAY_EVERY === 0) {
        figures.replayed += 1;
        if (replayKey(await play(where)) !== replayKey(played))
          figures.violations.push({ where, rule: REPEATS, found: where });
      }
      figures.violations.push(...violations(where, rules, played));
      count(played);
    } catch (error) {
      figures.violations.push({ where, rule: ENDS, found: error instanceof Error ? error.message : String(error) });
    }
    onSeed(n + 1, figures.violations.length);
  }
}
