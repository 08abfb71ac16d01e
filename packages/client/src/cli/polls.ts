import { LIMITS } from '@eloquentpoll/contracts/limits';
import type { ListedPoll, PollListQuery } from '../eloquentpoll.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { fit, pad, plain } from './plain-text.ts';
import { print, programOf } from './terminal.ts';

/** Lists the account's polls, including running ones. */
export async function pollsCommand({ polls, terminal, json }: Invocation, query: PollListQuery): Promise<Exit> {
  const { out, err, signal } = terminal;
  const page = await polls.polls(query, { signal });
  if (json) {
    print(out, jsonText(page));
    return EXIT.winner;
  }
  if (page.polls.length === 0 && !page.has_more) print(out, 'No polls.');
  print(out, ...page.polls.map(lineOf));
  if (page.after !== null)
    print(
      err,
      `Older polls: ${[programOf(terminal), 'polls', ...filtersOf(query), '--after', plain(page.after)].join(' ')}`,
    );
  return EXIT.winner;
}

/** The options that chose these polls, so that the next page shows the same kind. */
function filtersOf({ limit, status, close, preset, metadata = {} }: PollListQuery): string[] {
  return [
    ...(limit === undefined || limit === LIMITS.poll_list.default ? [] : ['--limit', String(limit)]),
    ...(status === undefined ? [] : ['--status', status]),
    ...(close ? ['--close'] : []),
    ...(preset === undefined ? [] : ['--preset', preset]),
    ...Object.entries(metadata).flatMap(([key, value]) => ['--metadata', quoted(`${key}=${value}`)]),
  ];
}

const quoted = (text: string): string =>
  /^[\w=.,:@/-]+$/.test(text) ? text : `'${plain(text).replaceAll("'", "'\\''")}'`;

const lineOf = (poll: ListedPoll): string =>
  [
    plain(poll.created_at.slice(0, 16).replace('T', ' ')),
    plain(poll.session_id),
    pad(poll.status, 9),
    pad(poll.cost_usd === null ? '' : `$${poll.cost_usd.toFixed(4)}`, 9),
    outcomeOf(poll),
    fit(plain(poll.question), 60),
  ].join('  ');

function outcomeOf({ status, winning_option, is_tie, is_close }: ListedPoll): string {
  if (status === 'running') return '(running)';
  if (winning_option === null) return is_tie ? '(tie)' : '(no votes)';
  return `${fit(plain(winning_option), 30)}${is_close ? ' (close)' : ''}`;
}
