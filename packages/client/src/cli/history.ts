import { EXIT, type Exit } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { pad, plain } from './plain-text.ts';
import { print } from './terminal.ts';

/** Lists what the caller asked before, newest first. */
export async function historyCommand(
  { polls, terminal, json }: Invocation,
  page: { limit: number; offset: number },
): Promise<Exit> {
  const { out, signal } = terminal;
  const results = await polls.history(page, { signal });
  if (json) print(out, jsonText(results));
  else if (results.length === 0) print(out, page.offset === 0 ? 'No results yet.' : 'No results this far back.');
  else
    print(
      out,
      ...results.map(({ createdAt, resultId, status, totalCostUsd, isTie, winningOption }) =>
        [
          plain(createdAt.slice(0, 16).replace('T', ' ')),
          plain(resultId),
          pad(status, 7),
          pad(plain(`$${totalCostUsd}`), 10),
          winningOption === null ? (isTie ? '(tie)' : '(no votes)') : plain(winningOption),
        ].join('  '),
      ),
    );
  return EXIT.winner;
}
