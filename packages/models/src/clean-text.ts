import { TAG_FLAGS } from '@eloquentpoll/contracts';

// What a model is shown of a caller's text: no control characters, no invisible or direction-changing ones, nothing that
// looks like a line of the vote itself. The caller's own text stays as it was for every other use.

/** A flag as a whole, whose tag characters are seen, or one character that is not. */
const FLAG_OR_INVISIBLE = new RegExp(
  `${TAG_FLAGS.source}|[\\p{Cc}\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]`,
  'gu',
);
const LINE_BREAK = /\r\n?|[\u0085\u2028\u2029]/g;
const VOTE_LINE = /^\s*(?:QUESTION\s*:|OPTIONS\s*:|VOTE\s*:|\[[A-Z]{2}\]|BALLOT\b)/i;

function visible(text: string): string {
  return text.replace(FLAG_OR_INVISIBLE, (part) => (part.length > 2 || part === '\n' || part === '\t' ? part : ''));
}

/** The question, over as many lines as it has; a line that imitates the vote's structure is set off as a quotation. */
export function cleanQuestion(text: string): string {
  return visible(text.toWellFormed().replace(LINE_BREAK, '\n'))
    .replace(/<{3,}/g, (run) => [...run].join(' '))
    .replace(/>{3,}/g, (run) => [...run].join(' '))
    .split('\n')
    .map((line) => (VOTE_LINE.test(line) ? `> ${line}` : line))
    .join('\n');
}

/** An option as a JSON string on one line; marker characters are written as escapes, so the text itself is unchanged. */
export function cleanOption(text: string): string {
  return JSON.stringify(visible(text.toWellFormed().replace(LINE_BREAK, '\n')))
    .replace(/<{3,}/g, (run) => '\\u003c'.repeat(run.length))
    .replace(/>{3,}/g, (run) => '\\u003e'.repeat(run.length));
}
