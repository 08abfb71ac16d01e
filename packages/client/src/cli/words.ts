import { didYouMean } from './did-you-mean.ts';
import { UsageError } from './usage-error.ts';

// Checks the words after a command.

export function only(words: readonly string[], sentence: string): string {
  const [word] = words;
  if (words.length !== 1 || !word?.trim()) throw new UsageError(`${sentence}.`);
  return word;
}

export function none(words: readonly string[], sentence: string): void {
  if (words.length > 0) throw new UsageError(sentence);
}

export function oneOf<const Name extends string>(what: string, word: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === word);
  if (found) return found;
  const list = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  throw new UsageError(`Unknown ${what} ${word}: ${list}.${didYouMean(word, names)}`);
}
