import { LIMITS } from '@eloquentpoll/contracts/limits';
import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import { UsageError } from './usage-error.ts';

// Reads question and options as given on a command line or typed at a prompt.

export interface PollText {
  question: string;
  options: string[] | null;
}

/** With `--option`, the whole text is the question, including brackets. */
export function readPollText(text: string, given: string[] | undefined): PollText {
  const poll = given ? { question: text.trim(), options: given } : shorthand(text);
  checkQuestion(poll.question);
  if (poll.options) checkOptions(poll.options);
  return poll;
}

/** Options as typed: separated by commas, with or without brackets. */
export function readOptions(line: string): string[] {
  const bare = line.trim();
  const { options } = shorthand(bare.startsWith('[') ? bare : `[${bare}]`);
  checkOptions(options ?? []);
  return options ?? [];
}

function shorthand(text: string): PollText {
  const short = parseShorthand(text);
  if (short.ok) return short.value;
  throw new UsageError(`The options cannot be read: ${short.issue.detail}.`);
}

export function checkQuestion(question: string): void {
  const length = [...question].length;
  const { min } = LIMITS.question;
  if (length < min) throw new UsageError(`The question has ${length} characters; at least ${min} are needed.`);
}

function checkOptions(options: readonly string[]): void {
  const { min, max, length } = LIMITS.options;
  if (options.length < min) {
    const example = options.length === 1 ? `[${options[0]}, …]` : '[Tea, Coffee]';
    throw new UsageError(`Give at least two options: ${example}.`);
  }
  if (options.length > max) throw new UsageError(`There are ${options.length} options; at most ${max} can be given.`);
  for (const [i, option] of options.entries()) {
    const characters = [...option].length;
    if (characters > length) {
      throw new UsageError(`Option ${i + 1} has ${characters} characters; at most ${length} can be given.`);
    }
    const first = options.indexOf(option);
    if (first !== i) throw new UsageError(`Options ${first + 1} and ${i + 1} are the same.`);
  }
}
