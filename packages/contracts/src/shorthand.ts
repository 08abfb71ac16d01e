import type { Issue } from './error-body.ts';
import { LIMITS } from './limits.ts';

// The short way to write a poll: `Which is larger? [A, B, C]`. The options are the last bracket group; only the end marks
// of the question may follow it, and earlier brackets belong to the question. A comma, bracket, quote or backslash after a
// backslash is literal, and so is a comma inside quotes. Brackets and commas may be those of other scripts, quotes those of
// print. Nothing is guessed: what cannot be read in exactly one way is refused with its place. No backtracking.

export interface Shorthand {
  question: string;
  /** Null when the text has no option group. */
  options: string[] | null;
}

export type Parsed = { ok: true; value: Shorthand } | { ok: false; issue: Issue };

const OPENING = '[［';
const CLOSING = ']］';
const END_MARKS = '?？؟!！.。';
/** Commas between options: ASCII, full-width, Arabic, and the ideographic one, which also lists words within an option. */
const COMMAS = ',，،、';
const LISTING_COMMA = '、';
const ESCAPABLE = `\\"${OPENING}${CLOSING}${COMMAS}`;
/** What closes each opening quote. */
const QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  '＂': '＂',
  '“': '”',
  '„': '“”',
  '”': '”',
  '«': '»',
  '»': '«',
  '「': '」',
  '『': '』',
};

export function parseShorthand(text: string): Parsed {
  // Characters, as schemas count them; only a long text is taken apart for that.
  if (text.length > LIMITS.shorthand && (text.length > 2 * LIMITS.shorthand || [...text].length > LIMITS.shorthand))
    return refuse(`the text may have at most ${LIMITS.shorthand} characters`);
  const group = lastGroup(text);
  if (group === null) return { ok: true, value: { question: text.trim(), options: null } };
  if ('issue' in group) return { ok: false, issue: group.issue };
  const items = splitItems(text, group.open + 1, group.close);
  if ('issue' in items) return { ok: false, issue: items.issue };
  const question = withEndMarks(text.slice(0, group.open).trim(), text.slice(group.close + 1).trim());
  return { ok: true, value: { question, options: items.options } };
}

/** `Which is larger [A, B]?`: the marks belong to the question, unless it has its own. */
const withEndMarks = (question: string, marks: string): string =>
  /[\p{L}\p{N}]$/u.test(question) ? question + marks : question;

type Group = { open: number; close: number } | { issue: Issue };

/** The last bracket group, which must close the text; null where there is no bracket at all. */
function lastGroup(text: string): Group | null {
  let open = -1;
  let close = -1;
  let depth = 0;
  let nestedAt = -1;
  /** What ends the quote that is open; empty outside of quotes. */
  let closers = '';
  // A quote means something only where an option begins: 6" stays six inches.
  let fresh = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    const opens = OPENING.includes(char);
    const closes = CLOSING.includes(char);
    if (char === '\\') i++;
    else if (closers !== '') closers = closers.includes(char) ? '' : closers;
    else if (opens && depth++ === 0) [open, nestedAt] = [i, -1];
    else if (opens) nestedAt = nestedAt < 0 ? i : nestedAt;
    else if (closes && depth === 0) return problem(i, 'this bracket closes nothing; write \\] for a literal one');
    else if (closes && --depth === 0) close = i;
    else if (fresh && Object.hasOwn(QUOTES, char)) closers = QUOTES[char]!;
    fresh = depth > 0 && (opens || COMMAS.includes(char) || (fresh && char.trim() === ''));
  }
  if (open < 0) return null;
  if (closers !== '') return problem(open, 'a quote in the option group that opens here is not closed');
  if (depth > 0) return problem(open, 'the bracket that opens here is not closed');
  const behind = [...text.slice(close + 1)].find((char) => char.trim() !== '' && !END_MARKS.includes(char));
  if (behind !== undefined) return problem(close + 1, 'nothing may follow the option group');
  if (nestedAt >= 0) return problem(nestedAt, 'a bracket inside the option group must be written as \\[');
  return { open, close };
}

type Items = { options: string[] } | { issue: Issue };

function splitItems(text: string, from: number, to: number): Items {
  const options: string[] = [];
  let item = '';
  let started = false;
  let wasQuoted = false;
  let closers = '';
  let itemAt = from;
  let comma = '';
  for (let i = from; i <= to; i++) {
    const char = text[i]!;
    const isComma = i < to && COMMAS.includes(char);
    if (closers === '' && (i === to || isComma)) {
      if (isComma && mixes(comma, char)) return problem(i, MIXED);
      if (isComma) comma = char;
      const option = wasQuoted ? item : item.trim();
      if (option === '') return problem(itemAt, 'an option is empty');
      options.push(option);
      item = '';
      started = wasQuoted = false;
      itemAt = i + 1;
    } else if (char === '\\' && i + 1 < to && ESCAPABLE.includes(text[i + 1]!)) {
      if (wasQuoted && closers === '') return problem(i, 'text follows a closing quote');
      item += text[++i];
      started = true;
    } else if (closers !== '' && closers.includes(char)) {
      closers = '';
    } else if (closers === '' && !started && !wasQuoted && Object.hasOwn(QUOTES, char)) {
      closers = QUOTES[char]!;
      wasQuoted = true;
      item = '';
    } else if (wasQuoted && closers === '') {
      if (char.trim() !== '') return problem(i, 'text follows a closing quote');
    } else {
      item += char;
      started ||= char.trim() !== '';
    }
  }
  return { options };
}

/** `[A、B，C]` may be two options or three. */
const mixes = (before: string, comma: string): boolean =>
  before !== '' && (before === LISTING_COMMA) !== (comma === LISTING_COMMA);

const MIXED = 'two kinds of comma separate the options; use one kind, or quote the options';

const refuse = (detail: string): { ok: false; issue: Issue } => ({ ok: false, issue: { pointer: '#/poll', detail } });

const problem = (at: number, detail: string): { issue: Issue } => ({
  issue: { pointer: '#/poll', detail: `${detail} (at character ${at + 1})` },
});
