/**
 * How many of the models that have not answered yet will cast a vote: at index M, the probability that exactly M do.
 * One failure rate per model; the models fail independently of each other.
 */
export function turnout(failureRates: readonly number[]): number[] {
  let chances = [1];
  for (const rate of failureRates) {
    const next = new Array<number>(chances.length + 1).fill(0);
    for (const [votes, chance] of chances.entries()) {
      next[votes]! += chance * rate;
      next[votes + 1]! += chance * (1 - rate);
    }
    chances = next;
  }
  return chances;
}
