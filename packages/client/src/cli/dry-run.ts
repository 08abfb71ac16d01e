import type { DryRun, PollRequest } from '../eloquentpoll.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { costText, elapsedText } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { plain } from './plain-text.ts';
import { limitText } from './summary.ts';
import { print } from './terminal.ts';

/** Prints whether a poll would run and what it would cost. The exit code is 0 only if it would run. */
export async function dryRunCommand(
  { polls, terminal, json, siteUrl }: Invocation,
  request: PollRequest,
): Promise<Exit> {
  const { out, signal } = terminal;
  const result = await polls.dryRun(request, { signal });
  const { exit, obstacles } = obstaclesOf(result, siteUrl);
  if (json) print(out, jsonText(result));
  else {
    print(out, exit === EXIT.winner ? 'The poll would be accepted; nothing was run.' : 'The poll would be refused:');
    print(out, ...obstacles.map((why) => `  ${plain(why)}`), ...figuresOf(result));
  }
  return exit;
}

/** A poll that is valid may still not be paid for, or not pay for a vote. */
function obstaclesOf({ valid, errors, estimates }: DryRun, siteUrl: string): { exit: Exit; obstacles: string[] } {
  const { balance_sufficient, min_cost_usd = 0, max_cost_usd = min_cost_usd } = estimates;
  if (!valid) return { exit: EXIT.usage, obstacles: errors };
  if (min_cost_usd > max_cost_usd)
    return {
      exit: EXIT.usage,
      obstacles: [`The limit does not pay for one vote: --max-cost ${limitText(min_cost_usd)}`],
    };
  if (balance_sufficient !== false) return { exit: EXIT.winner, obstacles: [] };
  const why = `The balance does not cover the maximum cost: ${siteUrl}/dashboard#funds, or a lower --max-cost.`;
  return { exit: EXIT.refused, obstacles: [why] };
}

function figuresOf({ estimates: { cost_usd, models, latency_ms, within_budget } }: DryRun): string[] {
  return [
    // Of a poll that asks no model there is nothing to estimate.
    ...(cost_usd && models?.expected_calls && latency_ms
      ? [
          `  cost     ${costText(cost_usd.expected)} expected, ${costText(cost_usd.max)} at most`,
          `  models   ${models.expected_calls.toFixed(1)} of ${models.roster_size} expected`,
          `  time     ${elapsedText(latency_ms.p50)} median, ${elapsedText(latency_ms.p95)} p95`,
        ]
      : []),
    ...(within_budget === false && models?.expected_calls
      ? ['  limit    does not cover every model of the panel']
      : []),
  ];
}
