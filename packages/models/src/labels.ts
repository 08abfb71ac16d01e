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
  const firsts = shuffled(LETTERS, next);
  const labels: string[] = [];
  for (const first of firsts) {
    if (labels.length === count) break;
    const seconds = shuffled(LETTERS, next).filter((second) => second !== first && !LOADED.has(first + second));
    // Somebody who writes every pair into the question gets a label that occurs in it, never one he could foresee.
    const unseen = seconds.find((second) => !texts.some((text) => text.includes(first + second)));
    labels.push(first + (unseen ?? seconds[0]!));
  }
  return labels;
}
