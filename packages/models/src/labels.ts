import { shuffled } from '@eloquentpoll/voting';

// Opaque labels: two capital consonants that suggest neither rank nor place. A to D and digits are excluded because
// models favor them, vowels because they form words, I, L and O because they look like digits.
const LETTERS = [...'FGHJKMNPQRSTVWXYZ'];

/** Pairs that have a meaning, often an offensive one. */
const LOADED = new Set(
  'FG FK FN FX GF GG GP HH JK JW KK KY MF MR MS MT NF NG NS PM PS PT SH SJ SS ST TS TV TY VP VS WP WT XX'.split(' '),
);

/** One label per option. No two start with the same letter, and none occurs in the prompt's text. */
export function drawLabels(count: number, text: string, next: (below: number) => number): string[] {
  return shuffled(LETTERS, next)
    .slice(0, count)
    .map((first) => labelWith(first, next(LETTERS.length), text));
}

/** The first allowed pair, starting at a random second letter. */
function labelWith(first: string, start: number, text: string): string {
  let fallback = '';
  for (let i = 0; i < LETTERS.length; i += 1) {
    const second = LETTERS[(start + i) % LETTERS.length]!;
    const label = first + second;
    if (second === first || LOADED.has(label)) continue;
    if (!text.includes(label)) return label;
    fallback ||= label;
  }
  // If the question contains every pair, the label does occur in it, but is still unpredictable.
  return fallback;
}
