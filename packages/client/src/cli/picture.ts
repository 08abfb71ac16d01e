import type { Progress } from '../eloquentpoll.ts';
import { fit, pad, plain, width } from './plain-text.ts';

// Renders a poll: question, a bar per option, and a progress line. No line is wider than the
// terminal, so that each takes one row and the next frame can be drawn over it.

export interface Scene {
  question: string | null;
  options: readonly string[];
  tally: Readonly<Record<string, number>>;
  /** Models in the panel: the length of a full bar. */
  total: number;
  /** The option in the lead, or the winner. */
  leader: string | null;
  /** Below the bars. */
  foot: readonly string[];
}

const MAX_COLUMNS = 100;
const WIDEST_LABEL = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

export interface TextStyle {
  bold(text: string): string;
  dim(text: string): string;
}

export const COLOUR: TextStyle = { bold: (text) => `\x1b[1m${text}\x1b[0m`, dim: (text) => `\x1b[2m${text}\x1b[0m` };
export const NO_COLOUR: TextStyle = { bold: (text) => text, dim: (text) => text };

export function picture(scene: Scene, terminalColumns: number, ink: TextStyle): string[] {
  // One column stays free: some terminals wrap after the last column.
  const columns = Math.max(10, Math.min(terminalColumns - 1, MAX_COLUMNS));
  const labels = scene.options.map(plain);
  const labelColumns = Math.min(WIDEST_LABEL, Math.floor(columns / 2), columns - 9, Math.max(1, ...labels.map(width)));
  const barColumns = Math.max(1, columns - labelColumns - 8);
  const bars = scene.options.map((option, index) => {
    const votes = votesFor(scene.tally, option);
    const label = pad(labels[index]!, labelColumns);
    const drawn = bar(scene.total === 0 ? 0 : votes / scene.total, barColumns);
    return `  ${option === scene.leader ? ink.bold(label) : label}  ${drawn} ${ink.dim(String(votes).padStart(2))}`;
  });
  const head = scene.question === null ? [] : [ink.bold(fit(plain(scene.question), columns)), ''];
  return [...head, ...bars, '', ...scene.foot.map((line) => ink.dim(fit(`  ${line}`, columns)))];
}

/** Any text is a legal option, `__proto__` too. */
export const votesFor = (tally: Readonly<Record<string, number>>, option: string): number =>
  Object.hasOwn(tally, option) ? tally[option]! : 0;

/** To an eighth of a column. */
function bar(share: number, columns: number): string {
  const eighths = Math.round(Math.max(0, Math.min(1, share)) * columns * 8);
  const full = Math.floor(eighths / 8);
  return `${'█'.repeat(full)}${EIGHTHS[eighths % 8]}`.padEnd(columns, ' ');
}

export function howFar({ received, failed, total }: Progress, elapsedMs: number): string {
  const failures = failed === 0 ? '' : ` · ${failed} failed`;
  return `${received} of ${total} models${failures} · ${elapsedText(elapsedMs)}`;
}

export const elapsedText = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
