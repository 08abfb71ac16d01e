type Cell = string | number | boolean | null;

/**
 * One line of a table (RFC 4180). A cell with a semicolon or a tab is quoted, because programs such as LibreOffice
 * treat these as separators too: the rest of the cell would become a new cell, and may be a formula.
 */
export const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(cell: Cell): string {
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell ?? '');
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text that a spreadsheet would compute. Cells contain callers' text; a leading apostrophe keeps it text. */
const FORMULA = /^[=+\-@\t\r]/;
