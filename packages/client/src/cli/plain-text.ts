// Makes untrusted text safe for a terminal: no control or bidirectional characters, and a known width.

const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;
const WIDE =
  /\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;

const segmenter = new Intl.Segmenter();

/** One line without control characters. */
export const plain = (text: string): string => text.replace(UNSEEN, ' ').trim();

const widthOf = (grapheme: string): number => (WIDE.test(grapheme) || grapheme.includes('\ufe0f') ? 2 : 1);

export function width(text: string): number {
  let columns = 0;
  for (const { segment } of segmenter.segment(text)) columns += widthOf(segment);
  return columns;
}

/** Cuts to this many columns, with an ellipsis. */
export function fit(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = '';
  let used = 1;
  for (const { segment } of segmenter.segment(text)) {
    used += widthOf(segment);
    if (used > columns) break;
    kept += segment;
  }
  return columns < 1 ? '' : `${kept}…`;
}

/** Fits text to exactly this many columns. */
export function pad(text: string, columns: number): string {
  const cut = fit(text, columns);
  return cut + ' '.repeat(Math.max(0, columns - width(cut)));
}

/** Splits text into lines of at most this many columns, at spaces if possible. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ +/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (width(longer) <= columns) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = '';
    for (const { segment } of segmenter.segment(word)) {
      if (line !== '' && width(line + segment) > columns) {
        lines.push(line);
        line = '';
      }
      line += segment;
    }
  }
  return [...lines, line];
}
