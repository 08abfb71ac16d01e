import { EloquentPollError } from '../eloquentpoll.ts';
import { rowLine } from './batch.ts';
import { EXIT, type Exit, exitOfError } from './exit-codes.ts';
import { plain } from './plain-text.ts';
import { limitText } from './summary.ts';
import { print, programOf, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Prints why a command failed and what to do about it. */
export function report(
  error: unknown,
  terminal: Terminal,
  { json, siteUrl }: { json: boolean; siteUrl: string },
): Exit {
  const { err, whenUnreachable } = terminal;
  if (error instanceof UsageError) {
    print(err, json ? JSON.stringify({ error: error.message, code: 'usage' }) : `eloquentpoll: ${error.message}`);
    return EXIT.usage;
  }
  // A defect in this program: print the stack trace.
  if (!(error instanceof EloquentPollError)) throw error;
  const { code, status, retryable, recovery, issues, rows, rowCount, requestId, minCostUsd, requiredUsd, sessionId } =
    error;
  const unreachable = `Nothing is listening at ${siteUrl}. ${whenUnreachable ?? 'Check --url or EP_URL.'}`;
  const message = code === 'network_error' ? unreachable : error.message;
  if (json) {
    const body = { error: message, code, status, retryable, recovery, issues, request_id: requestId };
    const more = {
      ...(minCostUsd !== null && { min_cost_usd: minCostUsd }),
      ...(requiredUsd !== null && { required_usd: requiredUsd }),
      ...(sessionId !== null && { session_id: sessionId }),
    };
    print(err, JSON.stringify({ ...body, ...(rows.length > 0 && { rows, row_count: rowCount }), ...more }));
  } else {
    print(err, `eloquentpoll: ${plain(message)}`);
    if (code === 'invalid_api_key') print(err, `  Check EP_KEY, or get a new one: ${programOf(terminal)} login`);
    print(err, ...rows.map(rowLine));
    if (rowCount > rows.length) print(err, `  and ${rowCount - rows.length} more`);
    if (rows.length > 0) print(err, '  Nothing was run. To leave these rows out: --skip-invalid');
    if (requiredUsd !== null) print(err, `  A balance of $${limitText(requiredUsd)} would do, or a lower --max-cost.`);
    if (minCostUsd !== null) print(err, `  Try --max-cost ${limitText(minCostUsd)}`);
    if (sessionId !== null) print(err, `  The poll was made: ${programOf(terminal)} watch ${plain(sessionId)}`);
    for (const { action, description, url } of recovery) {
      if (action !== 'open_documentation') print(err, `  ${plain(description)}${url ? ` ${plain(url)}` : ''}`);
    }
  }
  return exitOfError(error);
}
