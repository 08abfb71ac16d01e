import type { Issue } from './error-body.ts';
import { LIMITS } from './limits.ts';

// The short way to write a poll: `Which is larger? [A, B, C]`. The options are the last bracket group and end the text;
// earlier brackets belong to the question. A comma, bracket, quote or backslash after a backslash is literal, and so is a
// comma inside double quotes. Nothing is guessed: what cannot be read in exactly one way is refused with its place.
// One pass, no backtracking.

export interface Shorthand {
  question: string;
  /** Null when the text has no option group. */
  options: string[] | null;
}

export type Parsed = { ok: true; value: Shorthand } | { ok: false; issue: Issue };

export function parseShorthand(text: string): Parsed {
  if (text.length > LIMITS.shorthand) return refuse(`must be at most ${LIMITS.shorthand} characters`);
  const group = lastGroup(text);
  if (group === null) return { ok: true, value: { question: text.trim(), options: null } };
  if ('issue' in group) return { ok: false, issue: group.issue };
  const items = splitItems(text, group.open + 1, group.close);
  if ('issue' in items) return { ok: false, issue: items.issue };
  return { ok: true, value: { question: text.slice(0, group.open).trim(), options: items.options } };
}

type Group = { open: number; close: number } | { issue: Issue };

/** The last bracket group, which must close the text; null where there is no bracket at all. */
function lastGroup(text: string): Group | null {
  let open = -1;
  let close = -1;
  let depth = 0;
  let nestedAt = -1;
  let quoted = false;
  // A quote means something only where an option begins: 6" stays six inches.
  let fresh = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === '\\') i++;
    else if (quoted) quoted = char !== '"';
    else if (char === '[' && depth++ === 0) [open, nestedAt] = [i, -1];
    else if (char === '[') nestedAt = nestedAt < 0 ? i : nestedAt;
    else if (char === ']' && depth === 0) return problem(i, 'this bracket closes nothing; write \\] for a literal one');
    else if (char === ']' && --depth === 0) close = i;
    else if (char === '"' && fresh) quoted = true;
    fresh = depth > 0 && (char === '[' || char === ',' || (fresh && char.trim() === ''));
  }
  if (open < 0) return null;
  if (quoted) return problem(open, 'a quote in the option group that opens here is not closed');
  if (depth > 0) return problem(open, 'the bracket that opens here is not closed');
  if (text.slice(close + 1).trim() !== '') return problem(close + 1, 'nothing may follow the option group');
  if (nestedAt >= 0) return problem(nestedAt, 'a bracket inside the option group must be written as \\[');
  return { open, close };
}

type Items = { options: string[] } | { issue: Issue };

function splitItems(text: string, from: number, to: number): Items {
  const options: string[] = [];
  let item = '';
  let started = false;
  let wasQuoted = false;
  let quoted = false;
  let itemAt = from;
  for (let i = from; i <= to; i++) {
    const char = text[i]!;
    if (!quoted && (i === to || char === ',')) {
      const option = wasQuoted ? item : item.trim();
      if (option === '') return problem(itemAt, 'an option is empty');
      options.push(option);
      item = '';
      started = wasQuoted = false;
      itemAt = i + 1;
    } else if (char === '\\' && i + 1 < to && '\\,[]"'.includes(text[i + 1]!)) {
      if (wasQuoted && !quoted) return problem(i, 'text follows a closing quote');
      item += text[++i];
      started = true;
    } else if (char === '"' && quoted) {
      quoted = false;
    } else if (char === '"' && !started) {
      quoted = wasQuoted = true;
      item = '';
    } else if (wasQuoted && !quoted) {
      if (char.trim() !== '') return problem(i, 'text follows a closing quote');
    } else {
      item += char;
      started ||= char.trim() !== '';
    }
  }
  return { options };
}

const refuse = (detail: string): { ok: false; issue: Issue } => ({ ok: false, issue: { pointer: '#/poll', detail } });

const problem = (at: number, detail: string): { issue: Issue } => ({
  issue: { pointer: '#/poll', detail: `${detail} (at character ${at + 1})` },
});
