import { TAG_FLAGS } from '@eloquentpoll/contracts';

// The caller's text as models see it: no control, invisible or direction-changing characters, and no line that looks
// like part of the prompt. The caller's own text is unchanged everywhere else.

/** A whole flag emoji, whose tag characters are visible, or one invisible character. */
const FLAG_OR_INVISIBLE = new RegExp(
  `${TAG_FLAGS.source}|[\\p{Cc}\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]`,
  'gu',
);
const LINE_BREAK = /\r\n?|[\u0085\u2028\u2029]/g;
const VOTE_LINE = /^\s*(?:QUESTION\s*:|OPTIONS\s*:|VOTE\s*:|\[[A-Z]{2}\]|BALLOT\b)/i;

function visible(text: string): string {
  return text.replace(FLAG_OR_INVISIBLE, (part) => (part.length > 2 || part === '\n' || part === '\t' ? part : ''));
}

/** The question with its lines. A line that imitates the prompt's structure is marked as a quotation. */
export function cleanQuestion(text: string): string {
  return visible(text.toWellFormed().replace(LINE_BREAK, '\n'))
    .replace(/<{3,}/g, (run) => [...run].join(' '))
    .replace(/>{3,}/g, (run) => [...run].join(' '))
    .split('\n')
    .map((line) => (VOTE_LINE.test(line) ? `> ${line}` : line))
    .join('\n');
}

/** An option as a JSON string on one line. Marker characters are escaped, so the text itself is unchanged. */
export function cleanOption(text: string): string {
  return JSON.stringify(visible(text.toWellFormed().replace(LINE_BREAK, '\n')))
    .replace(/<{3,}/g, (run) => '\\u003c'.repeat(run.length))
    .replace(/>{3,}/g, (run) => '\\u003e'.repeat(run.length));
}
