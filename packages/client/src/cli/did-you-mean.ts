/** The candidate closest to `word`, if typing errors in up to a third of its characters explain the difference. */
export function closest(word: string, candidates: readonly string[]): string | null {
  const lower = word.toLowerCase();
  const [best] = candidates
    .map((candidate) => ({ candidate, edits: editsBetween(lower, candidate) }))
    .toSorted((a, b) => a.edits - b.edits);
  return best && best.edits <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : null;
}

export function didYouMean(word: string, candidates: readonly string[]): string {
  const meant = closest(word, candidates);
  return meant === null ? '' : ` Did you mean ${meant}?`;
}

/** Counts insertions, deletions, substitutions and swaps of adjacent characters (optimal string alignment). */
function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          above[j]! + 1,
          row[j - 1]! + 1,
          above[j - 1]! + cost,
          swapped ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = above;
    above = row;
  }
  return above[b.length]!;
}
