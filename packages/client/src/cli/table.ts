import { fit, pad, width } from './plain-text.ts';

/** A table with columns as wide as their cells. The first column is left-aligned, figures are right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], columns: number): string[] {
  if (rows.length === 0) return [];
  const widths = head.map((name, i) => Math.max(width(name), ...rows.map((row) => width(row[i] ?? ''))));
  const lineOf = (row: readonly string[]) => {
    const cells = widths.map((columnWidth, i) => {
      const text = row[i] ?? '';
      return i === 0 ? pad(text, columnWidth) : ' '.repeat(columnWidth - width(text)) + text;
    });
    return fit(`  ${cells.join('  ')}`, columns).trimEnd();
  };
  return [head, ...rows].map(lineOf);
}
