import { percentOf } from '@eloquentpoll/voting/verdict';
import { colourClasses, type PollPicture, verdictOn } from './poll-picture.ts';

// The lines of the odds chart: one per option with its own colour, one for all other options together, one for a tie.

export interface OddsPoint {
  readonly received: number;
  readonly chance: number;
}

export interface Series {
  readonly name: string;
  /** Class that sets its colour. */
  readonly kind: string;
  readonly points: readonly OddsPoint[];
  /** The word for certainty: "so far" if missing votes could still have changed the outcome. */
  readonly settled: 'final' | 'so far';
}

export function oddsSeries(picture: PollPicture): Series[] {
  const { options, odds } = picture;
  const colours = colourClasses(picture);
  const settled = verdictOn(picture).kind === 'unsafe' ? 'so far' : 'final';
  const series = (name: string, kind: string, chanceOf: (chances: readonly number[]) => number): Series => ({
    name,
    kind,
    settled,
    points: odds.map(({ received, chances }) => ({ received, chance: Math.min(1, Math.max(0, chanceOf(chances))) })),
  });
  const others = [...options.keys()].filter((option) => colours[option] === 'colour-other');
  return [
    ...options.flatMap((name, option) =>
      colours[option] === 'colour-other' ? [] : [series(name, colours[option]!, (chances) => chances[option] ?? 0)],
    ),
    ...(others.length === 0
      ? []
      : [
          series(`${others.length} others`, 'colour-other', (chances) =>
            others.reduce((sum, option) => sum + (chances[option] ?? 0), 0),
          ),
        ]),
    series('A tie', 'tie', (chances) => chances[options.length] ?? 0),
  ];
}

/** Only certainty is shown as a word instead of a percentage; no other chance is rounded up to it. */
export function oddsText(chance: number, settled: Series['settled'] = 'final'): string {
  if (chance >= 1 - 1e-9) return settled;
  return chance > 0 && chance < 0.01 ? '<1%' : (percentOf(chance) ?? '–');
}

/** Positions for the labels at the line ends, moved apart so that they do not overlap. */
export function spacedApart(places: readonly number[], gap: number, lowest: number): number[] {
  const down = [...places];
  for (let i = 1; i < down.length; i++) down[i] = Math.max(down[i]!, down[i - 1]! + gap);
  let limit = lowest;
  for (let i = down.length - 1; i >= 0; i--) {
    down[i] = Math.min(down[i]!, limit);
    limit = down[i]! - gap;
  }
  return down;
}
