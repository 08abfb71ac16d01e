import { EloquentPollError } from '../eloquentpoll.ts';
import { causeOf, isRefusedConnection, proxyHint } from '../fetch-failure.ts';
import { rowLine } from './batch.ts';
import { EXIT, type Exit, exitOfError } from './exit-codes.ts';
import { durationText } from './figures.ts';
import type { Heard } from './heard.ts';
import { jsonText } from './json-text.ts';
import { plain } from './plain-text.ts';
import { limitText } from './summary.ts';
import { print, programOf, type Terminal } from './terminal.ts';
import { fileErrorOf, UsageError } from './usage-error.ts';

/** Prints why a command failed and what to do about it. */
export function report(
  error: unknown,
  terminal: Terminal,
  { json, siteUrl, heard }: { json: boolean; siteUrl: string; heard: Heard },
): Exit {
  const { err } = terminal;
  const wrong = error instanceof UsageError ? error : fileErrorOf(error);
  if (wrong) {
    const { message, code, batchId = heard.batchId } = wrong;
    const body = { error: message, code, ...(batchId !== undefined && { batch_id: batchId }) };
    print(err, json ? jsonText(body) : `eloquentpoll: ${plain(message)}`);
    return EXIT.usage;
  }
  if (!(error instanceof EloquentPollError)) {
    const stack = (error instanceof Error && error.stack) || String(error);
    print(err, json ? jsonText({ error: stack, code: 'defect', ...goingOn(heard) }) : stack);
    if (!json && heard.sessionId !== undefined)
      print(err, `The poll was created: ${programOf(terminal)} watch ${plain(heard.sessionId)}`);
    return EXIT.defect;
  }
  const { code, status, retryable, retryAfterSeconds, recovery, issues, rows, rowCount, requestId } = error;
  const { minCostUsd, requiredUsd, sessionId, idempotencyKey } = error;
  const message = code === 'network_error' ? withoutAnswer(error, siteUrl, heard, terminal) : error.message;
  if (json) {
    const body = { error: message, code, status, retryable, recovery, issues, request_id: requestId };
    const more = {
      ...(retryAfterSeconds !== null && { retry_after_seconds: retryAfterSeconds }),
      ...(minCostUsd !== null && { min_cost_usd: minCostUsd }),
      ...(requiredUsd !== null && { required_usd: requiredUsd }),
      ...(sessionId !== null && { session_id: sessionId }),
      ...(idempotencyKey !== null && { idempotency_key: idempotencyKey }),
      ...(heard.batchId !== undefined && { batch_id: heard.batchId }),
    };
    print(err, jsonText({ ...body, ...(rows.length > 0 && { rows, row_count: rowCount }), ...more }));
  } else {
    print(err, `eloquentpoll: ${plain(message)}`);
    if (code === 'invalid_api_key') print(err, `  Check EP_KEY, or get a new one: ${programOf(terminal)} login`);
    print(err, ...rows.map(rowLine));
    if (rowCount > rows.length) print(err, `  and ${rowCount - rows.length} more`);
    if (rows.length > 0) print(err, '  Nothing was run. To skip these rows: --skip-invalid');
    if (requiredUsd !== null) print(err, `  A balance of $${limitText(requiredUsd)} is needed, or a lower --max-cost.`);
    if (minCostUsd !== null) print(err, `  Try --max-cost ${limitText(minCostUsd)}`);
    if (sessionId !== null) print(err, `  The poll was created: ${programOf(terminal)} watch ${plain(sessionId)}`);
    if (sessionId !== null && mayRun(error))
      print(err, `  To stop it: ${programOf(terminal)} cancel ${plain(sessionId)}`);
    for (const { action, description, url } of recovery) {
      if (action !== 'open_documentation') print(err, `  ${plain(description)}${url ? ` ${plain(url)}` : ''}`);
    }
    if (retryAfterSeconds && !message.includes('again in')) {
      print(err, `  Try again in ${durationText(1_000 * retryAfterSeconds)}.`);
    }
    // The operator finds the failure by it.
    if (status !== null && status >= 500 && requestId !== null) print(err, `  Request id: ${plain(requestId)}`);
    if (status !== null && status >= 300 && status < 400) print(err, '  The address is --url or EP_URL.');
  }
  return exitOfError(error);
}

/** For programs; for people, the command has printed what goes on. */
export function reportInterruption({ err }: Terminal, { json, heard }: { json: boolean; heard: Heard }): Exit {
  const body = { error: 'The command was interrupted.', code: 'interrupted', ...goingOn(heard) };
  if (json) print(err, jsonText(body));
  return EXIT.interrupted;
}

/** What goes on at the service without the command. */
function goingOn({ isAny, sessionId, idempotencyKey, batchId }: Heard): object {
  const key = isAny && sessionId === undefined ? idempotencyKey : undefined;
  return {
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(key !== undefined && { idempotency_key: key }),
    ...(batchId !== undefined && { batch_id: batchId }),
  };
}

function withoutAnswer(
  error: EloquentPollError,
  siteUrl: string,
  heard: Heard,
  { env, whenUnreachable }: Terminal,
): string {
  const reason = causeOf(error)?.message || error.message;
  if (heard.isAny) return `The connection to ${siteUrl} was lost: ${reason}`;
  const hint = proxyHint(env, siteUrl);
  // A proxy may have refused the connection instead.
  const what =
    isRefusedConnection(error) && hint === ''
      ? `Nothing is listening at ${siteUrl}.`
      : `${siteUrl} cannot be reached: ${reason.trim().replace(/\.$/, '')}.`;
  return `${what} ${whenUnreachable ?? 'Check --url or EP_URL.'}${hint}`;
}

/**
 * Whether the poll behind an error may still be running. An error with neither a status nor a network code says how the
 * poll ended.
 */
const mayRun = ({ status, code }: EloquentPollError): boolean =>
  status !== null || code === 'network_error' || code === 'timeout';
