// How good the reading is: learned on one half of the questions without their answers, judged on the other half.
import type { Halves } from './choose-panels.ts';
import { type Interval, meanInterval } from './interval.ts';
import { pluralityScore } from './panel-figures.ts';
import { learnReliabilities, type Reliabilities, readingOf } from './reading.ts';
import type { AnsweredQuestion } from './voted-question.ts';

type Mean = Interval & { readonly mean: number };

export interface ReadingFigures {
  /** Right answers. Options with equal odds share them. */
  readonly right: Mean;
  /** The difference to the plurality with ties broken at random, question by question. */
  readonly overPlurality: Mean;
  readonly overBestMember: Mean;
}

/** Null if the first half is too small to learn from. */
export function readingFigures(
  { choosing, judging }: Halves,
  models: readonly number[],
  bestMember: number,
): ReadingFigures | null {
  const names = models.map(String);
  const unanswered = choosing.map(({ optionCount, votes }) => ({
    optionCount,
    votes: models.map((model) => votes[model]),
  }));
  const learned = learnReliabilities('', names, unanswered);
  if (learned === null) return null;
  const scores = judging.map((question) => scoreOf(learned, question, models));
  return {
    right: meanInterval(scores, [0, 1]),
    overPlurality: meanInterval(
      judging.map((question, i) => scores[i]! - pluralityScore(question, models).chance),
      [-1, 1],
    ),
    overBestMember: meanInterval(
      judging.map(({ votes, answer }, i) => scores[i]! - Number(votes[bestMember] === answer)),
      [-1, 1],
    ),
  };
}

function scoreOf(learned: Reliabilities, { optionCount, votes, answer }: AnsweredQuestion, models: readonly number[]) {
  const cast = models.map((model) => ({ model: String(model), option: votes[model] ?? null }));
  const reading = readingOf(learned, optionCount, cast);
  if (reading === null) return 0;
  const likely = Math.max(...reading.odds) - 1e-12;
  return reading.odds[answer]! > likely ? 1 / reading.odds.filter((odds) => odds > likely).length : 0;
}
