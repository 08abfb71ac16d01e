import { shuffled } from '@eloquentpoll/voting';
import { cleanOption, cleanQuestion } from './clean-text.ts';
import { drawLabels } from './labels.ts';
import { seededNumbers } from './seeded.ts';

// One prompt: its text and the meaning of its labels. It depends only on seed and seat, so a resumed poll asks the same
// question. The caller's text never reaches the system message and never leaves the marked block.

const NONCE_LETTERS = [...'abcdefghijkmnpqrstuvwxyz23456789'];
const NONCE_LENGTH = 16;

export interface PromptText {
  question: string;
  options: readonly string[];
  /** Place of this model in the poll's asking order. */
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
  /** For models that accept a seed: the same for the same poll and seat. */
  providerSeed: number;
}

/**
 * One shuffle per poll, rotated by one place per seat: over any K consecutive seats, each of K options is at each place
 * exactly once.
 */
export const optionOrder = (count: number, seat: number, seed: string): number[] =>
  turned(baseOrder(count, seed), seat);

const baseOrder = (count: number, seed: string): number[] =>
  shuffled([...Array(count).keys()], seededNumbers(`${seed}|order`));

const turned = (base: readonly number[], seat: number): number[] =>
  base.map((_, place) => base[(place + seat) % base.length]!);

/** The parts that all seats of a poll share. */
interface Common {
  readonly question: string;
  readonly seed: string;
  readonly shownQuestion: string;
  readonly shownOptions: readonly string[];
  /** All text that is shown. Labels and nonces must not occur in it. */
  readonly text: string;
  readonly base: readonly number[];
}

/** Cached by the options array, which all seats of a poll share, so that texts are cleaned and shuffled once. */
const commons = new WeakMap<readonly string[], Common>();

function commonOf({ question, options, seed }: PromptText): Common {
  const known = commons.get(options);
  if (known?.question === question && known.seed === seed) return known;
  const shownQuestion = cleanQuestion(question);
  const shownOptions = options.map(cleanOption);
  const text = [shownQuestion, ...shownOptions].join('\n');
  const common = { question, seed, shownQuestion, shownOptions, text, base: baseOrder(options.length, seed) };
  commons.set(options, common);
  return common;
}

export function composePrompt(asked: PromptText): Prompt {
  const { options, seat, seed } = asked;
  const { shownQuestion, shownOptions, text, base } = commonOf(asked);
  const next = seededNumbers(`${seed}|seat ${seat}`);
  const labels = drawLabels(options.length, text, next);
  let nonce: string;
  do nonce = drawNonce(next);
  while (text.includes(nonce));
  const order = turned(base, seat);
  const shown = order.map((option) => labels[option]!);
  const block = blockOf(
    nonce,
    shownQuestion,
    order.map((option, place) => lineOf(shown[place]!, shownOptions[option]!)),
  );
  return { nonce, labels, shown, block, providerSeed: next(2 ** 31) };
}

const ANY_NONCE = 'x'.repeat(NONCE_LENGTH);
const ANY_LABEL = 'XX';

/** A prompt of the same length as every vote's, without random draws, for computing prices. */
export function anyPrompt({ question, options }: Pick<PromptText, 'question' | 'options'>): Prompt {
  const labels = options.map(() => ANY_LABEL);
  const lines = options.map((option) => lineOf(ANY_LABEL, cleanOption(option)));
  const block = blockOf(ANY_NONCE, cleanQuestion(question), lines);
  return { nonce: ANY_NONCE, labels, shown: labels, block, providerSeed: 0 };
}

const lineOf = (label: string, shownOption: string): string => `[${label}] ${shownOption}\n`;

const blockOf = (nonce: string, shownQuestion: string, lines: readonly string[]): string =>
  `<<<BALLOT ${nonce}\nQUESTION:\n${shownQuestion}\nOPTIONS:\n${lines.join('')}BALLOT ${nonce}>>>`;

function drawNonce(next: (below: number) => number): string {
  let nonce = '';
  for (let i = 0; i < NONCE_LENGTH; i++) nonce += NONCE_LETTERS[next(NONCE_LETTERS.length)]!;
  return nonce;
}
