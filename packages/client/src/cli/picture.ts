import { pad, plain, width } from './plain-text.ts';
import type { TextStyle } from './terminal.ts';

// A bar per option on the scale of the whole panel, with a mark at the number of votes with which an option has won. No
// line is wider than `columns`, so that each takes one row and the next frame can be drawn over it.

export interface Standings {
  options: readonly string[];
  tally: Readonly<Record<string, number>>;
  /** Models in the panel: the length of a full bar. */
  total: number;
  /** Number of models that failed. */
  failed: number;
  /** The leading option, or the winner. */
  leader: string | null;
}

const WIDEST_LABEL = 40;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const MARK = '┊';

export function picture(standings: Standings, columns: number, ink: TextStyle): string[] {
  const { options, tally, total, leader } = standings;
  const labels = options.map(plain);
  const labelColumns = Math.min(WIDEST_LABEL, Math.floor(columns / 2), columns - 9, Math.max(1, ...labels.map(width)));
  const barColumns = Math.max(1, columns - labelColumns - 8);
  const enough = enoughToWin(standings);
  const markAt = enough === null ? null : Math.min(barColumns - 1, Math.round((enough / total) * barColumns));
  const bars = options.map((option, index) => {
    const votes = votesFor(tally, option);
    const drawn = bar(total === 0 ? 0 : votes / total, barColumns, markAt);
    const isLeading = option === leader;
    const label = pad(labels[index]!, labelColumns);
    return `  ${isLeading ? ink.lead(label) : label}  ${isLeading ? ink.lead(drawn) : drawn} ${ink.dim(String(votes).padStart(2))}`;
  });
  const legend = `enough to win: ${enough} ${MARK}`;
  const fits = markAt !== null && legend.length <= labelColumns + 5 + markAt;
  return fits ? [...bars, ink.dim(legend.padStart(labelColumns + 5 + markAt))] : bars;
}

/** More than half of the possible votes. Fewer may be enough if the others are split. */
function enoughToWin({ total, failed }: Standings): number | null {
  const possible = total - failed;
  return possible < 1 ? null : Math.floor(possible / 2) + 1;
}

/** Any text can be an option, even `__proto__`. */
export const votesFor = (tally: Readonly<Record<string, number>>, option: string): number =>
  Object.hasOwn(tally, option) ? tally[option]! : 0;

/** With a resolution of an eighth of a column. */
function bar(share: number, columns: number, markAt: number | null): string {
  const eighths = Math.round(Math.max(0, Math.min(1, share)) * columns * 8);
  const full = Math.floor(eighths / 8);
  const filled = `${'█'.repeat(full)}${EIGHTHS[eighths % 8]}`;
  if (markAt === null || filled.length > markAt) return filled.padEnd(columns);
  return `${filled.padEnd(markAt)}${MARK}`.padEnd(columns);
}
