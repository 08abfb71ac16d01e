type Cell = string | number | boolean | null;

/** One line of a table (RFC 4180). */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(cell: Cell): string {
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet would compute. Cells hold texts of callers; an apostrophe before them keeps them texts. */
const FORMULA = /^[=+\-@\t\r]/;
