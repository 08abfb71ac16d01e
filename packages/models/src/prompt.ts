import { shuffled } from '@eloquentpoll/voting';
import { cleanOption, cleanQuestion } from './clean-text.ts';
import { drawLabels } from './labels.ts';
import { seededNumbers } from './seeded.ts';

// One prompt: what a model reads and what its labels mean. It follows from the poll's seed and the seat alone, so a
// resumed poll asks the same question. Nothing a caller writes reaches the system message or leaves the marked block.

const NONCE_LETTERS = [...'abcdefghijkmnpqrstuvwxyz23456789'];

export interface PromptText {
  question: string;
  options: readonly string[];
  /** Place of this model in the poll's order of asking. */
  seat: number;
  /** The poll's secret seed. */
  seed: string;
}

export interface Prompt {
  nonce: string;
  /** By option index. */
  labels: string[];
  /** Labels in the order in which the model reads them. */
  shown: string[];
  /** The user message. */
  block: string;
  /** For models that take one: the same poll and seat ask with the same seed. */
  providerSeed: number;
}

/**
 * The order is one shuffle per poll, turned by one place from seat to seat: over any K seats in a row each of K options
 * stands at each place exactly once.
 */
export function optionOrder(count: number, seat: number, seed: string): number[] {
  const base = shuffled([...Array(count).keys()], seededNumbers(`${seed}|order`));
  return base.map((_, place) => base[(place + seat) % count]!);
}

export function composePrompt({ question, options, seat, seed }: PromptText): Prompt {
  const next = seededNumbers(`${seed}|seat ${seat}`);
  const shownQuestion = cleanQuestion(question);
  const shownOptions = options.map(cleanOption);
  const texts = [shownQuestion, ...shownOptions];
  const labels = drawLabels(options.length, texts, next);
  let nonce: string;
  do nonce = Array.from({ length: 16 }, () => NONCE_LETTERS[next(NONCE_LETTERS.length)]!).join('');
  while (texts.some((text) => text.includes(nonce)));
  const order = optionOrder(options.length, seat, seed);
  const lines = order.map((option) => `[${labels[option]}] ${shownOptions[option]}`);
  const block = [`<<<BALLOT ${nonce}`, 'QUESTION:', shownQuestion, 'OPTIONS:', ...lines, `BALLOT ${nonce}>>>`].join(
    '\n',
  );
  return { nonce, labels, shown: order.map((option) => labels[option]!), block, providerSeed: next(2 ** 31) };
}
