// Every markdown answer states an estimate of its token count.

const BYTES_PER_TOKEN = 4;

/** Headers of every markdown answer. */
export const markdownHeaders = (text: string): Record<string, string> => ({
  'x-markdown-tokens': String(Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)),
});

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const markdownList = (items: readonly string[]): string => items.map((item) => `- ${item}`).join('\n');
