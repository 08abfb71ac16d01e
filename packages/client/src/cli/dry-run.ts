import type { PollRequest } from '../eloquentpoll.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { costText, elapsedText } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { plain } from './plain-text.ts';
import { print } from './terminal.ts';

/** Prints whether a poll would be accepted and what it would cost; exit code 0 if accepted. */
export async function dryRunCommand({ polls, terminal, json }: Invocation, request: PollRequest): Promise<Exit> {
  const { out, signal } = terminal;
  const result = await polls.dryRun(request, { signal });
  const { valid, errors, estimates } = result;
  if (json) print(out, jsonText(result));
  else {
    print(out, valid ? 'The poll would be accepted; nothing was run.' : 'The poll would be refused:');
    print(out, ...errors.map((error) => `  ${plain(error)}`));
    const { cost_usd, models, latency_ms, balance_sufficient, within_budget } = estimates;
    if (cost_usd && models && latency_ms) {
      print(out, `  cost     ${costText(cost_usd.expected)} expected, ${costText(cost_usd.max)} at most`);
      print(out, `  models   ${models.expected_calls.toFixed(1)} of ${models.roster_size} expected`);
      print(out, `  time     ${elapsedText(latency_ms.p50)} median, ${elapsedText(latency_ms.p95)} p95`);
    }
    if (within_budget === false) print(out, '  limit    does not cover every model of the panel');
    if (balance_sufficient === false) print(out, '  balance  does not cover the maximum cost');
  }
  return valid ? EXIT.winner : EXIT.usage;
}
