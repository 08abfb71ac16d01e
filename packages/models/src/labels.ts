import { shuffled } from '@eloquentpoll/voting';

// Opaque labels: two capital consonants that say nothing about rank or place. A to D and digits are out because models
// favour them, vowels because they make words, I, L and O because they read as digits.
const LETTERS = [...'FGHJKMNPQRSTVWXYZ'];

/** Pairs with a meaning of their own, often an offensive one. */
const LOADED = new Set(
  'FG FK FN FX GF GG GP HH JK JW KK KY MF MR MS MT NF NG NS PM PS PT SH SJ SS ST TS TV TY VP VS WP WT XX'.split(' '),
);

/** One label per option, no two with the same first letter and none that already stands in the vote's text. */
export function drawLabels(count: number, text: string, next: (below: number) => number): string[] {
  return shuffled(LETTERS, next)
    .slice(0, count)
    .map((first) => labelWith(first, next(LETTERS.length), text));
}

/** The first pair that may be used, from a random second letter on. */
function labelWith(first: string, start: number, text: string): string {
  let fallback = '';
  for (let i = 0; i < LETTERS.length; i += 1) {
    const second = LETTERS[(start + i) % LETTERS.length]!;
    const label = first + second;
    if (second === first || LOADED.has(label)) continue;
    if (!text.includes(label)) return label;
    fallback ||= label;
  }
  // A question that contains every pair gets a label that occurs in it, but never a predictable one.
  return fallback;
}
