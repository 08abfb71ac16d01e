import type { Output, Terminal } from '../src/cli/terminal.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a terminal obeys.
const CODES = /\x1b\]8;;.*?\x1b\\|\x1b\[([\d;]*)([A-Za-z])|[\r\n]|[^\x1b\r\n]+/g;

/** A terminal of the kind that bars are drawn on, as far as drawing them needs one. */
export function screen(columns = 60, rows = 24) {
  const lines = [''];
  let row = 0;
  const written: string[] = [];
  const out: Output = {
    isTTY: true,
    columns,
    rows,
    write(text) {
      written.push(text);
      for (const [part, code, kind] of text.matchAll(CODES)) {
        if (kind === 'A') row = Math.max(0, row - Number(code));
        else if (kind === 'K') lines[row] = '';
        else if (kind === 'J') lines.splice(row, Infinity, '');
        else if (part === '\n') lines[++row] ??= '';
        else if (part !== '\r' && kind !== 'm' && !part.startsWith('\x1b]')) lines[row] += part;
      }
    },
  };
  return { out, text: () => lines.join('\n'), written };
}

/** Standard output and standard error as a pipe sees them. */
export function pipes() {
  const texts = { out: '', err: '' };
  const output = (name: keyof typeof texts): Output => ({
    write(text) {
      texts[name] += text;
    },
  });
  return { texts, out: output('out'), err: output('err') };
}

export const terminal = (given: Partial<Terminal>): Terminal => ({
  ...pipes(),
  env: {},
  signal: new AbortController().signal,
  ...given,
});
