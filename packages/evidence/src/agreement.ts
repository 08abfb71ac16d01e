// How much the votes of a panel's models depend on each other. Nine models that always agree are worth one vote.
import type { VotedQuestion } from './voted-question.ts';

/** 1 on the diagonal. Null if two models never voted on the same question. */
export type AgreementMatrix = readonly (readonly (number | null)[])[];

/**
 * Agreement beyond chance: 0 for as often as by guessing, 1 for always. Chance is one divided by the number of options.
 */
export function agreementMatrix(
  questions: readonly VotedQuestion[],
  models: number,
  minQuestions = 1,
): AgreementMatrix {
  return pairwise(models, (a, b) => {
    let [agreed, expected, both] = [0, 0, 0];
    for (const { optionCount, votes } of questions) {
      const [one, other] = [votes[a], votes[b]];
      if (one == null || other == null) continue;
      both += 1;
      agreed += Number(one === other);
      expected += 1 / optionCount;
    }
    return both < minQuestions ? null : (agreed - expected) / (both - expected);
  });
}

/**
 * Correlation of errors, over the questions with a known answer. Null if one of a pair is always right or always wrong.
 */
export function errorCorrelations(questions: readonly VotedQuestion[], models: number): AgreementMatrix {
  return pairwise(models, (a, b) => {
    let [count, wrongA, wrongB, wrongBoth] = [0, 0, 0, 0];
    for (const { votes, answer } of questions) {
      const [one, other] = [votes[a], votes[b]];
      if (answer === undefined || one == null || other == null) continue;
      count += 1;
      wrongA += Number(one !== answer);
      wrongB += Number(other !== answer);
      wrongBoth += Number(one !== answer && other !== answer);
    }
    const spread = Math.sqrt(wrongA * (count - wrongA) * wrongB * (count - wrongB));
    return spread === 0 ? null : (count * wrongBoth - wrongA * wrongB) / spread;
  });
}

function pairwise(models: number, of: (a: number, b: number) => number | null): AgreementMatrix {
  const matrix = Array.from({ length: models }, () => new Array<number | null>(models).fill(null));
  for (let a = 0; a < models; a++) {
    matrix[a]![a] = 1;
    for (let b = 0; b < a; b++) matrix[a]![b] = matrix[b]![a] = of(a, b);
  }
  return matrix;
}

/**
 * "Nine models are worth 5.2 votes": the number of independent votes whose mean varies as much as the mean of these
 * models' votes (Kish's design effect). Pairs without data are assumed to be like the average pair. Null if no pair has
 * data.
 */
export function effectiveVotes(matrix: AgreementMatrix): number | null {
  const models = matrix.length;
  if (models < 2) return models === 1 ? 1 : null;
  const pairs = matrix.flatMap((row, a) => row.slice(0, a)).filter((value) => value !== null);
  if (pairs.length === 0) return null;
  const mean = pairs.reduce((sum, value) => sum + value, 0) / pairs.length;
  return Math.min(models, models / Math.max(1, 1 + (models - 1) * mean));
}

/** The agreement of named models, as stored. */
export interface NamedAgreement {
  readonly models: readonly string[];
  readonly matrix: AgreementMatrix;
}

/** The effective votes of some of the models. Null until every pair of them has data. */
export function effectiveVotesOf({ models, matrix }: NamedAgreement, heard: readonly string[]): number | null {
  const places = heard.map((model) => models.indexOf(model));
  if (places.includes(-1)) return null;
  const part = places.map((a) => places.map((b) => matrix[a]?.[b] ?? null));
  return part.some((row) => row.includes(null)) ? null : effectiveVotes(part);
}
