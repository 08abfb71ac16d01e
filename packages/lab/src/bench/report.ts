import { tableLines } from '../terminal/table.ts';
import { gradeOf, type Line } from './bench-row.ts';

const target = (line: Line, value: number | null): string =>
  value === null ? '-' : `${line.better === 'higher' ? '>=' : '<='} ${value}${line.unit}`;

export function report(lines: readonly Line[]): string[] {
  const rows = lines.map((line) => [
    line.quantity,
    line.ours,
    line.baseline,
    line.value === null ? '-' : `${rounded(line.value)}${line.unit}`,
    target(line, line.must),
    target(line, line.stretch),
    gradeOf(line),
  ]);
  return tableLines(['quantity', 'ours', 'baseline', 'ratio', 'target', 'stretch', 'verdict'], rows, [0, 2, 6]);
}

const rounded = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2));
