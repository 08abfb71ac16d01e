import { descending, leader, type Votes, votesCast } from '../tally.ts';
import type { Band } from './agreement.ts';
import type { VerdictKind, VerdictPoll } from './verdict.ts';
import { counted, listed, saysCanceled } from './words.ts';

/** Our own words, or an option of the poll. */
export type Part = string | { readonly option: number };

export const headlineText = (parts: readonly Part[], options: readonly string[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : (options[part.option] ?? ''))).join('');

/** Options are JSON strings, for readers that see only plain text, such as other agents. */
export const quotedHeadlineText = (parts: readonly Part[], options: readonly string[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(options[part.option] ?? ''))).join('');

/** Maximum number of options named in a headline. If more are tied, their number is shown. */
const MAX_NAMED = 3;

export function headlineOf(kind: VerdictKind, poll: VerdictPoll, band: Band | null): Part[] {
  const { tally } = poll;
  const first = { option: leader(tally) ?? 0 };
  const share = `${tally[first.option] ?? 0} of ${votesCast(tally)}`;
  switch (kind) {
    case 'final':
      return [first, `${manner(poll, band)}: ${share}`];
    case 'kept':
      return [first, `: ${share}, stopped early`];
    case 'leading':
      return ['Leading: ', first, `, ${share}`];
    case 'tied':
      return tieOf('A tie', tally);
    case 'level':
      return tieOf('Level so far', tally);
    case 'unsafe':
      return ['No safe answer yet: ', ...mostVoted(tally)];
    case 'unanswered':
      return [`No answer: ${whyUnanswered(poll)}`];
    case 'waiting':
      return ['Waiting for the first vote'];
  }
}

function whyUnanswered(poll: VerdictPoll): string {
  if (saysCanceled(poll)) return 'the poll was canceled';
  return poll.failures.length === 0 ? 'no model could be asked' : 'no model gave a valid vote';
}

function manner({ tally, panelSize }: VerdictPoll, band: Band | null): string {
  if (band === 'unanimous') return votesCast(tally) === panelSize ? ', unanimously' : '';
  return band === 'split' ? ', narrowly' : '';
}

function tieOf(what: string, tally: Votes): Part[] {
  const most = Math.max(...tally);
  const tied = [...tally.keys()].filter((option) => tally[option] === most).map((option) => ({ option }));
  const each = `, ${counted(most, 'vote')} each`;
  return tied.length > MAX_NAMED
    ? [`${what} between ${tied.length} options${each}`]
    : [`${what}: `, ...listed(tied), each];
}

function mostVoted(tally: Votes): Part[] {
  const least = Math.max(1, descending(tally)[MAX_NAMED - 1] ?? 0);
  const named = [...tally.keys()].filter((option) => tally[option]! >= least).toSorted((a, b) => tally[b]! - tally[a]!);
  return named
    .slice(0, MAX_NAMED)
    .flatMap((option, i) => [i === 0 ? '' : ', ', { option }, ` ${tally[option]}`])
    .filter((part) => part !== '');
}
