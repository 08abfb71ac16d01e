import { EventEmitter, once } from 'node:events';

// A command's input and output. Tests replace all of it.

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
  /** Default: standard input of this process. */
  input?: NodeJS.ReadableStream;
  env: NodeJS.ProcessEnv;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** How the user starts this program, for hints. Default: `eloquentpoll`. */
  program?: string;
  /** A hint for when the service cannot be reached. */
  whenUnreachable?: string;
  /** A key for the service that was started together with this program. */
  localKey?: { siteUrl: string; key: string };
  /** Asks a person for a line. Null at the end of the input. Undefined if no person can answer. */
  ask?: (label: string) => Promise<string | null>;
  /** False if there is no browser. */
  openBrowser?: (url: string) => Promise<boolean>;
}

export const programOf = ({ program }: Terminal): string => program ?? 'eloquentpoll';

export const canDraw = ({ out, env }: Terminal): boolean => out.isTTY === true && env.TERM !== 'dumb';

/** Whether a frame of this many rows can be redrawn. Rows that have scrolled out of view cannot. */
export const canRedraw = (terminal: Terminal, rows: number): boolean =>
  canDraw(terminal) && rows < (terminal.out.rows || 24);

const MAX_COLUMNS = 100;

/** One column stays free: some terminals wrap after the last column. */
export const columnsOf = ({ out }: Terminal): number => Math.max(10, Math.min((out.columns || 80) - 1, MAX_COLUMNS));

export interface TextStyle {
  bold(text: string): string;
  dim(text: string): string;
  lead(text: string): string;
}

const style = (code: string) => (text: string) => `\x1b[${code}m${text}\x1b[0m`;
export const COLOUR: TextStyle = { bold: style('1'), dim: style('2'), lead: style('1;36') };
const same = (text: string): string => text;
export const NO_COLOUR: TextStyle = { bold: same, dim: same, lead: same };

export const styleOf = (terminal: Terminal): TextStyle =>
  canDraw(terminal) && !terminal.env.NO_COLOR ? COLOUR : NO_COLOUR;

/** An address that can be opened in the terminal with a click. */
export const linkOf = (terminal: Terminal, url: string): string =>
  canDraw(terminal) ? `\x1b]8;;${url}\x1b\\${url}\x1b]8;;\x1b\\` : url;

export const print = (output: Output, ...lines: readonly string[]): void =>
  void output.write(lines.map((line) => `${line}\n`).join(''));

/**
 * Prints a line of a list of any length. Waits while the reader of a pipe is slower than the service, because lines that
 * are not written yet are kept in memory.
 */
export async function printLongList(output: Output, line: string, signal: AbortSignal): Promise<void> {
  const isKept = output.write(`${line}\n`) === false;
  if (isKept && output instanceof EventEmitter) await once(output, 'drain', { signal });
}

/** Draws a frame over the previous one; an empty frame removes it. */
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
