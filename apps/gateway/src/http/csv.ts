type Cell = string | number | boolean | null;

/**
 * One line of a table (RFC 4180). Programs that take semicolons and tabs for separators as well, as LibreOffice does, keep
 * a cell with them whole because it is quoted: the rest of it would be a cell of its own, and may be a formula.
 */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(cell: Cell): string {
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell ?? '');
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a spreadsheet would compute. Cells hold texts of callers; an apostrophe before them keeps them texts. */
const FORMULA = /^[=+\-@\t\r]/;
