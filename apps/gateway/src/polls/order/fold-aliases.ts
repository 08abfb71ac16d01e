import type { Issue, ShortPollRequest } from '@eloquentpoll/contracts';
import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import { invalid } from '../../http/api-error.ts';

// Reads one question and one list of options from `question`, `prompt`, `q` and `options`, `o`, or both from `poll`.
// Aliases that disagree are refused, so that no caller pays for a guess.

/** A value and the field in which it was sent, so that issues can name the caller's own field. */
export interface FromField<T> {
  value: T;
  field: 'question' | 'prompt' | 'q' | 'options' | 'o' | 'poll';
}

export interface Folded {
  question: FromField<string> | null;
  options: FromField<string[]> | null;
}

export function foldAliases(body: ShortPollRequest): Folded {
  const { question, prompt, q, options, o } = body;
  const poll = body.poll === undefined ? { question: '', options: null } : readPoll(body.poll);
  return {
    question: agreeing<string>([
      fromField('question', question),
      fromField('prompt', prompt),
      fromField('q', q),
      fromField('poll', poll.question === '' ? undefined : poll.question),
    ]),
    options: agreeing<string[]>([
      fromField('options', options),
      fromField('o', o),
      fromField('poll', poll.options ?? undefined),
    ]),
  };
}

function readPoll(text: string) {
  const parsed = parseShorthand(text);
  if (!parsed.ok) throw invalid([withinPoll(parsed.issue)]);
  return parsed.value;
}

const fromField = <T>(field: FromField<T>['field'], value: T | undefined): FromField<T> | null =>
  value === undefined ? null : { field, value };

function agreeing<T>(aliases: readonly (FromField<T> | null)[]): FromField<T> | null {
  const [first, ...others] = aliases.filter((alias) => alias !== null);
  if (first === undefined) return null;
  const text = JSON.stringify(first.value);
  const different = others.find((other) => JSON.stringify(other.value) !== text);
  if (!different) return first;
  const detail = `${different.field} and ${first.field} say different things; send one of them`;
  throw invalid([{ pointer: `#/${different.field}`, detail }]);
}

/** An issue inside `poll`. Its parts have no JSON pointer of their own, so the text names the part. */
export const withinPoll = ({ detail }: Issue): Issue => ({ pointer: '#/poll', detail: `poll: ${detail}` });
