// The input and output of a command; tests replace all of it.

export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  /** 0 or undefined if unknown. */
  columns?: number;
  rows?: number;
}

export interface Terminal {
  out: Output;
  err: Output;
  env: NodeJS.ProcessEnv;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** Hint for when the service cannot be reached. */
  whenUnreachable?: string;
}

export const canDraw = ({ out, env }: Terminal): boolean => out.isTTY === true && env.TERM !== 'dumb';

/** Whether a frame of so many rows can be redrawn: rows that have scrolled away cannot. */
export const canRedraw = (terminal: Terminal, rows: number): boolean =>
  canDraw(terminal) && rows < (terminal.out.rows || 24);

export const print = (output: Output, ...lines: readonly string[]): void =>
  void output.write(lines.map((line) => `${line}\n`).join(''));

/** Draws a frame over the previous one. */
export function canvas(output: Output): { draw(lines: readonly string[]): void } {
  let rows = 0;
  return {
    draw(lines) {
      const back = rows === 0 ? '' : `\x1b[${rows}A`;
      rows = lines.length;
      output.write(`${back}${lines.map((line) => `\r\x1b[2K${line}\n`).join('')}\x1b[0J`);
    },
  };
}
