const MAX_CELL = 60;

interface Rows {
  fields: { name: string }[];
  rows: Record<string, unknown>[];
}

/** Formats rows as plain text in columns; long cells are cut. */
export function asTable({ fields, rows }: Rows): string {
  const names = fields.map(({ name }) => name);
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const widths = names.map((name, column) => Math.max(name.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((text, column) => ` ${text.padEnd(widths[column] ?? 0)} `).join('|');
  const rule = widths.map((width) => '-'.repeat(width + 2)).join('+');
  const count = `(${rows.length} ${rows.length === 1 ? 'row' : 'rows'})`;
  return [line(names), rule, ...cells.map(line), count].map((text) => text.trimEnd()).join('\n');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text =
    value instanceof Date ? value.toISOString() : typeof value === 'object' ? JSON.stringify(value) : `${value}`;
  const flat = text.replaceAll('\n', ' ');
  return flat.length > MAX_CELL ? `${flat.slice(0, MAX_CELL - 1)}…` : flat;
}
