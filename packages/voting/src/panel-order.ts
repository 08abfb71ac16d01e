import { seededRandom, shuffled } from './seeded-random.ts';

/**
 * The order in which a poll asks its models, as indices into `seats`. Families take turns, in an order drawn from the
 * seed; inside a family, the order of the models is drawn from the seed too. So the first votes are as independent of
 * each other as the panel allows.
 */
export function panelOrder(seats: readonly { readonly family: string }[], seed: string): number[] {
  const draw = seededRandom(seed);
  const families = Map.groupBy(seats.keys(), (seat) => seats[seat]!.family);
  const lines = shuffled([...families.values()], draw).map((members) => shuffled(members, draw));
  const rounds = Math.max(0, ...lines.map((line) => line.length));
  return Array.from({ length: rounds }, (_, round) => lines.flatMap((line) => line.slice(round, round + 1))).flat();
}
