// A second opinion beside the plurality: how reliable each model is, learned from live questions (one-coin Dawid and
// Skene, 1979) and from known answers if there are some, and what that means for one poll. It never stops a poll or
// replaces a winner. In a tie it shows which option is more likely.
import type { VotedQuestion } from './voted-question.ts';

export interface Reliabilities {
  /** The version of the data that it was learned from. Stored with every reading. */
  readonly version: string;
  readonly models: ReadonlyMap<string, Reliability>;
}

export interface Reliability {
  /** The estimated probability that the model votes for the right option. */
  readonly right: number;
  /** Number of votes that it was learned from. */
  readonly votes: number;
}

export const MIN_QUESTIONS = 200;
export const MIN_VOTES_OF_A_MODEL = 50;
/** Every model starts with this many votes of an average model. */
const SHRINKAGE = 20;
const MAX_ROUNDS = 100;
const SETTLED = 1e-7;
/** No model is assumed to be always right, or worse than guessing. */
const MAX_RIGHT = 0.99;

/** Null until there are enough questions. Models with too few votes are omitted, and so have no part in readings. */
export function learnReliabilities(
  version: string,
  models: readonly string[],
  questions: readonly VotedQuestion[],
): Reliabilities | null {
  const heard = questions.filter(({ votes }) => votes.filter((vote) => vote != null).length >= 2);
  if (heard.length < MIN_QUESTIONS) return null;
  const counts = models.map((_, model) => heard.filter(({ votes }) => votes[model] != null).length);
  const known = models.flatMap((_, model) => (counts[model]! >= MIN_VOTES_OF_A_MODEL ? [model] : []));
  const right = expectationMaximised(heard, known, models.length);
  return { version, models: new Map(known.map((i) => [models[i]!, { right: right[i]!, votes: counts[i]! }])) };
}

/** Starts with equal models, so the first odds are those of the plurality. */
function expectationMaximised(questions: readonly VotedQuestion[], known: readonly number[], models: number): number[] {
  let right = new Array<number>(models).fill(0.7);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const agreed = new Array<number>(models).fill(0);
    const voted = new Array<number>(models).fill(0);
    for (const question of questions) {
      const odds = oddsOf(question, known, right);
      for (const model of known) {
        const vote = question.votes[model];
        if (vote == null) continue;
        voted[model]! += 1;
        agreed[model]! += odds[vote]!;
      }
    }
    const average = known.reduce((sum, i) => sum + agreed[i]!, 0) / known.reduce((sum, i) => sum + voted[i]!, 0);
    const next = right.map((before, i) =>
      known.includes(i) ? bounded((agreed[i]! + SHRINKAGE * average) / (voted[i]! + SHRINKAGE)) : before,
    );
    const moved = Math.max(...next.map((value, i) => Math.abs(value - right[i]!)));
    right = next;
    if (moved < SETTLED) break;
  }
  return right;
}

const bounded = (right: number): number => Math.min(MAX_RIGHT, Math.max(0.05, right));

/** The probability that each option is right. A known answer is certain, and so is that a rejected one is wrong. */
function oddsOf(
  { optionCount, votes, answer, rejected }: VotedQuestion,
  known: readonly number[],
  right: readonly number[],
): number[] {
  if (answer !== undefined) return Array.from({ length: optionCount }, (_, option) => Number(option === answer));
  const log = new Array<number>(optionCount).fill(0);
  for (const model of known) {
    const vote = votes[model];
    if (vote != null) log[vote]! += weight(right[model]!, optionCount);
  }
  if (rejected !== undefined) log[rejected] = Number.NEGATIVE_INFINITY;
  return normalised(log);
}

/** The evidence of one vote, as log odds ratio. 0 for a model that is no better than guessing. */
const weight = (right: number, optionCount: number): number =>
  Math.max(0, Math.log((right * (optionCount - 1)) / (1 - right)));

function normalised(log: readonly number[]): number[] {
  const best = Math.max(...log);
  const likely = log.map((value) => Math.exp(value - best));
  const sum = likely.reduce((total, value) => total + value, 0);
  return likely.map((value) => value / sum);
}

export interface Reading {
  /** Null if the best options have equal odds. */
  readonly winner: number | null;
  /** The probability that each option is right, if models erred independently. They do not: see `likelihood`. */
  readonly odds: readonly number[];
  /**
   * The probability that the winner is right, if the votes are worth as many independent ones as is known. Null without a
   * winner, and if that is not known.
   */
  readonly likelihood: number | null;
  /** The reading prefers another option than the plurality, or prefers one in its tie. */
  readonly differs: boolean;
  readonly version: string;
}

/**
 * The reading of one poll. Null if there are no votes, or a voter's reliability is unknown. `worth`: how many independent
 * votes the valid votes are worth, null if unknown.
 */
export function readingOf(
  { version, models }: Reliabilities,
  optionCount: number,
  votes: readonly { readonly model: string; readonly option: number | null }[],
  worth: number | null = null,
): Reading | null {
  const cast = votes.filter((vote): vote is { model: string; option: number } => vote.option !== null);
  if (cast.length === 0 || cast.some(({ model }) => !models.has(model))) return null;
  const log = new Array<number>(optionCount).fill(0);
  const tally = new Array<number>(optionCount).fill(0);
  for (const { model, option } of cast) {
    log[option]! += weight(models.get(model)!.right, optionCount);
    tally[option]! += 1;
  }
  const odds = normalised(log);
  const winner = soleBest(odds);
  const likelihood =
    winner === null || worth === null ? null : normalised(log.map((value) => (value * worth) / cast.length))[winner]!;
  return { winner, odds, likelihood, differs: winner !== null && winner !== soleBest(tally), version };
}

function soleBest(values: readonly number[]): number | null {
  const best = Math.max(...values);
  const at = [...values.keys()].filter((i) => values[i]! > best - 1e-12);
  return at.length === 1 ? at[0]! : null;
}
