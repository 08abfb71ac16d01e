/** How the models of a list voted on one question. */
export interface VotedQuestion {
  readonly optionCount: number;
  /** One entry per model: an option, null for a model that gave no vote, undefined for one that was not asked. */
  readonly votes: readonly (number | null | undefined)[];
  /** The right option, where it is known. */
  readonly answer?: number;
}
