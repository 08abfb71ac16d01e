/** Lines of a table: the first column is text and left-aligned, the others are right-aligned unless listed as text. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns: readonly number[] = [0],
): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) =>
        textColumns.includes(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
}

export const asPercent = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)} %`;

export const asSeconds = (ms: number | null, digits = 1): string =>
  ms === null ? '-' : `${(ms / 1000).toFixed(digits)} s`;

/** Nearest rank; null for an empty list. */
export function percentile(values: readonly number[], q: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? null;
}
