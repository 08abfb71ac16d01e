/** How the models of a list voted on one question. */
export interface VotedQuestion {
  readonly optionCount: number;
  /** One entry per model: an option, null if it gave no vote, undefined if it was not asked. */
  readonly votes: readonly (number | null | undefined)[];
  /** The right option, if known. */
  readonly answer?: number;
  /** An option that is known to be wrong. */
  readonly rejected?: number;
}

export type AnsweredQuestion = VotedQuestion & Required<Pick<VotedQuestion, 'answer'>>;
