/**
 * How many of the models that have not answered yet will cast a vote: element M is the probability that exactly M do.
 * Each model has its own failure rate. Failures are assumed to be independent.
 */
export function turnout(failureRates: readonly number[]): number[] {
  const chances = [1];
  for (const rate of failureRates) {
    chances.push(0);
    for (let votes = chances.length - 2; votes >= 0; votes--) {
      chances[votes + 1]! += chances[votes]! * (1 - rate);
      chances[votes]! *= rate;
    }
  }
  return chances;
}
