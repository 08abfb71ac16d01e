// A second reading beside the plurality: how reliable each model is, learned from live questions (one-coin Dawid and Skene,
// 1979) and from known answers where there are some, and what that makes of one poll. It stops no poll, replaces no
// winner, and leans in ties.
import type { VotedQuestion } from './voted-question.ts';

export interface Reliabilities {
  /** Of the data that it was learned from; stored with every reading. */
  readonly version: string;
  readonly models: ReadonlyMap<string, Reliability>;
}

export interface Reliability {
  /** The estimated chance that the model votes for the right option. */
  readonly right: number;
  /** Votes that it was learned from. */
  readonly votes: number;
}

export const MIN_QUESTIONS = 200;
export const MIN_VOTES_OF_A_MODEL = 50;
/** A model counts as the average model for this many votes. */
const SHRINKAGE = 20;
const MAX_ROUNDS = 100;
const SETTLED = 1e-7;
/** No model is taken to be always right, or worse than guessing. */
const MAX_RIGHT = 0.99;

/** Null until there are enough questions. A model with too few votes is left out: it does not enter readings. */
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

/** Begins with equal models: the first odds are those of the plurality. */
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

/** How likely each option is the right one; a known answer is certain. */
function oddsOf(
  { optionCount, votes, answer }: VotedQuestion,
  known: readonly number[],
  right: readonly number[],
): number[] {
  if (answer !== undefined) return Array.from({ length: optionCount }, (_, option) => Number(option === answer));
  const log = new Array<number>(optionCount).fill(0);
  for (const model of known) {
    const vote = votes[model];
    if (vote != null) log[vote]! += weight(right[model]!, optionCount);
  }
  return normalised(log);
}

/** The evidence of one vote, as a log odds ratio; a model that is no better than guessing has none. */
const weight = (right: number, optionCount: number): number =>
  Math.max(0, Math.log((right * (optionCount - 1)) / (1 - right)));

function normalised(log: readonly number[]): number[] {
  const best = Math.max(...log);
  const likely = log.map((value) => Math.exp(value - best));
  const sum = likely.reduce((total, value) => total + value, 0);
  return likely.map((value) => value / sum);
}

export interface Reading {
  /** Null where the best options are alike. */
  readonly winner: number | null;
  /** How likely each option is the right one, if the models err independently, which they do not: a lean, no proof. */
  readonly odds: readonly number[];
  /** The reading prefers another option than the plurality, or leans in its tie. */
  readonly differs: boolean;
  readonly version: string;
}

/** What one poll reads like; null where a voter has no reliability yet, or none voted. */
export function readingOf(
  { version, models }: Reliabilities,
  optionCount: number,
  votes: readonly { readonly model: string; readonly option: number | null }[],
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
  return { winner, odds, differs: winner !== null && winner !== soleBest(tally), version };
}

function soleBest(values: readonly number[]): number | null {
  const best = Math.max(...values);
  const at = [...values.keys()].filter((i) => values[i]! > best - 1e-12);
  return at.length === 1 ? at[0]! : null;
}
