/**
 * How many of the models that have not answered yet will cast a vote: at index M, the probability that exactly M do.
 * One failure rate per model; the models fail independently of each other.
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
