import type { Issue, ShortPollRequest } from '@eloquentpoll/contracts';
import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import { invalid } from '../../http/api-error.ts';

// One question and one list of options from all the ways to say them: `question`, `prompt`, `q` and `options`, `o`, or
// both in `poll`. Two ways at once have to agree, because nobody should pay for what we guessed.

/** What was said, and in which field: problems with it are told in the caller's own words. */
export interface Told<T> {
  value: T;
  field: 'question' | 'prompt' | 'q' | 'options' | 'o' | 'poll';
}

export interface Folded {
  question: Told<string> | null;
  options: Told<string[]> | null;
}

export function foldAliases(body: ShortPollRequest): Folded {
  const { question, prompt, q, options, o } = body;
  const poll = body.poll === undefined ? { question: '', options: null } : readPoll(body.poll);
  return {
    question: agreed<string>([
      told('question', question),
      told('prompt', prompt),
      told('q', q),
      told('poll', poll.question === '' ? undefined : poll.question),
    ]),
    options: agreed<string[]>([told('options', options), told('o', o), told('poll', poll.options ?? undefined)]),
  };
}

function readPoll(text: string) {
  const parsed = parseShorthand(text);
  if (!parsed.ok) throw invalid([withinPoll(parsed.issue)]);
  return parsed.value;
}

const told = <T>(field: Told<T>['field'], value: T | undefined): Told<T> | null =>
  value === undefined ? null : { field, value };

function agreed<T>(ways: readonly (Told<T> | null)[]): Told<T> | null {
  const [first, ...others] = ways.filter((way) => way !== null);
  if (first === undefined) return null;
  const text = JSON.stringify(first.value);
  const contrary = others.find((other) => JSON.stringify(other.value) !== text);
  if (!contrary) return first;
  const detail = `${contrary.field} and ${first.field} say different things; send one of them`;
  throw invalid([{ pointer: `#/${contrary.field}`, detail }]);
}

/** What is wrong within `poll`: there is no path to a part of it, but the words say which one it is. */
export const withinPoll = ({ detail }: Issue): Issue => ({ pointer: '#/poll', detail: `poll: ${detail}` });
