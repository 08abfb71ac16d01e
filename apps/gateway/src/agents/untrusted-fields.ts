/** Paths in an answer with a model's own words, which agents must not take for ours; empty without reasons. */
export function untrustedFields(answer: object): string[] {
  const votes: unknown = 'votes' in answer ? answer.votes : undefined;
  const hasReasons = Array.isArray(votes) && votes.some((vote: object) => 'reason' in vote);
  return hasReasons ? ['votes[].reason'] : [];
}
