// How good a panel is on questions with known answers, compared with its best member.
import { agreementMatrix, effectiveVotes } from './agreement.ts';
import { type Interval, meanInterval, shareInterval } from './interval.ts';
import type { AnsweredQuestion } from './voted-question.ts';

export interface Share extends Interval {
  readonly share: number;
}

export interface PanelFigures {
  /** Indices into the votes of the questions. */
  readonly models: readonly number[];
  readonly questions: number;
  /** Right answers of the plurality. A tie is not right. */
  readonly plurality: Share;
  readonly tied: Share;
  /** The same, with ties broken at random. */
  readonly tiesBroken: number;
  /** The member that is right most often, chosen on other questions if there are any. */
  readonly bestMember: number;
  readonly bestMemberRight: Share;
  /** `tiesBroken` minus `bestMember`, question by question. */
  readonly difference: Interval & { readonly mean: number };
  readonly effectiveVotes: number | null;
}

/** Significantly worse than its best member: the interval of the difference ends below zero. */
export const isBelowItsBest = ({ difference }: PanelFigures): boolean => difference.high < 0;

export function panelFigures(
  questions: readonly AnsweredQuestion[],
  models: readonly number[],
  bestMember = bestOf(questions, models),
): PanelFigures {
  const scores = questions.map((question) => pluralityScore(question, models));
  const broken = scores.map(({ chance }) => chance);
  const memberRight = questions.map(({ votes, answer }) => Number(votes[bestMember] === answer));
  return {
    models,
    questions: questions.length,
    plurality: share(scores.filter(({ chance, isTie }) => !isTie && chance === 1).length, questions.length),
    tied: share(scores.filter(({ isTie }) => isTie).length, questions.length),
    tiesBroken: broken.reduce((sum, chance) => sum + chance, 0) / Math.max(1, questions.length),
    bestMember,
    bestMemberRight: share(
      memberRight.reduce((sum, right) => sum + right, 0),
      questions.length,
    ),
    difference: meanInterval(
      broken.map((chance, i) => chance - memberRight[i]!),
      [-1, 1],
    ),
    effectiveVotes: effectiveVotes(
      agreementMatrix(
        questions.map(({ votes, ...question }) => ({ ...question, votes: models.map((model) => votes[model]) })),
        models.length,
      ),
    ),
  };
}

const share = (hits: number, trials: number): Share => ({
  share: trials === 0 ? 0 : hits / trials,
  ...shareInterval(hits, trials),
});

/** The probability of being right if ties are broken at random. 0 without votes. */
export function pluralityScore({ optionCount, votes, answer }: AnsweredQuestion, models: readonly number[]) {
  const tally = new Array<number>(optionCount).fill(0);
  for (const model of models) {
    const vote = votes[model];
    if (vote != null) tally[vote]! += 1;
  }
  const most = Math.max(...tally);
  const first = most === 0 ? 0 : tally.filter((count) => count === most).length;
  return { isTie: first > 1, chance: first > 0 && tally[answer] === most ? 1 / first : 0 };
}

/** The member that is right most often. */
export function bestOf(questions: readonly AnsweredQuestion[], models: readonly number[]): number {
  const right = (model: number) => questions.filter(({ votes, answer }) => votes[model] === answer).length;
  const counts = models.map(right);
  return models[counts.indexOf(Math.max(...counts))]!;
}

/** Right answers over all questions, with ties broken at random. The search maximizes this. */
export const rightAnswers = (questions: readonly AnsweredQuestion[], models: readonly number[]): number =>
  questions.reduce((sum, question) => sum + pluralityScore(question, models).chance, 0);
