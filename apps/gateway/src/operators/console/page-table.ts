// Markup of the console. Every text is escaped, unless it was made here.

export type Cell = string | number | Raw;

export class Raw {
  readonly html: string;
  constructor(html: string) {
    this.html = html;
  }
}
export const raw = (html: string): Raw => new Raw(html);

export function consoleTable<T>(
  caption: string,
  heads: string[],
  rows: readonly T[] | null,
  cells: (row: T) => Cell[],
): string {
  if (rows === null) return `<p class="panel bad">${escaped(caption)}: the store does not answer.</p>`;
  if (rows.length === 0) return `<p class="none">${escaped(caption)}: none.</p>`;
  const head = heads.map((text) => `<th scope="col">${escaped(text)}</th>`).join('');
  const body = rows.map((row) => `<tr>${cells(row).map(cell).join('')}</tr>`).join('\n');
  const title = escaped(caption);
  return `<section class="panel"><h2>${title}</h2><div class="scroll" tabindex="0" role="region" aria-label="${title}"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div></section>`;
}

function cell(value: Cell): string {
  if (value instanceof Raw) return `<td>${value.html}</td>`;
  return `<td${typeof value === 'number' ? ' class="n"' : ''}>${escaped(String(value))}</td>`;
}

/** In UTC, to the second; the exact time is shown on hover. */
export function instant(at: Date): Raw {
  const iso = at.toISOString();
  return raw(`<time datetime="${iso}" title="${iso}">${iso.slice(0, 19).replace('T', ' ')} UTC</time>`);
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
