// Where a command writes, and what it is told from outside: everything that tests put something else in place of.

export interface Output {
  write(text: string): unknown;
  isTTY?: boolean;
  /** 0, or nothing, where nobody knows. */
  columns?: number;
  rows?: number;
}

export interface Terminal {
  out: Output;
  err: Output;
  env: NodeJS.ProcessEnv;
  /** Aborts when the user has had enough. */
  signal: AbortSignal;
  /** What to do when no service answers, in one sentence. */
  whenUnreachable?: string;
}

export const canDraw = ({ out, env }: Terminal): boolean => out.isTTY === true && env.TERM !== 'dumb';

/** Whether a picture of so many rows can be drawn over another: what has scrolled away cannot be reached. */
export const canRedraw = (terminal: Terminal, rows: number): boolean =>
  canDraw(terminal) && rows < (terminal.out.rows || 24);

export const print = (output: Output, ...lines: readonly string[]): void =>
  void output.write(lines.map((line) => `${line}\n`).join(''));

/** Draws one picture over the last one. */
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
