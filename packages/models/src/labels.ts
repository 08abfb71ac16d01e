import { shuffled } from './seeded.ts';

// Opaque labels: two capital consonants that say nothing about rank or place. A to D and digits are out because models
// favour them, vowels because they make words, I, L and O because they read as digits.
const LETTERS = [...'FGHJKMNPQRSTVWXYZ'];

/** Pairs that mean something to somebody, often something ugly. */
const LOADED = new Set(
  'FG FK FN FX GF GG GP HH JK JW KK KY MF MR MS MT NF NG NS PM PS PT SH SJ SS ST TS TV TY VP VS WP WT XX'.split(' '),
);

/** One label per option, no two with the same first letter and none that already stands in the ballot's texts. */
export function drawLabels(count: number, texts: readonly string[], next: (below: number) => number): string[] {
  return shuffled(LETTERS, next)
    .slice(0, count)
    .map((first) => {
      const start = next(LETTERS.length);
      const pairs = LETTERS.map((_, i) => first + LETTERS[(start + i) % LETTERS.length]!).filter(isOpaque);
      // Somebody who writes every pair into the question gets a label that occurs in it, never one he could foresee.
      return pairs.find((pair) => !texts.some((text) => text.includes(pair))) ?? pairs[0]!;
    });
}

function isOpaque(pair: string): boolean {
  return pair[0] !== pair[1] && !LOADED.has(pair);
}
