import { BASE_URL, EloquentPoll, EloquentPollError } from '../eloquentpoll.ts';
import { type Command, readArguments } from './arguments.ts';
import { askCommand } from './ask.ts';
import { dryRunCommand } from './dry-run.ts';
import { EXIT, type Exit, exitOfError } from './exit-codes.ts';
import { freeCommand } from './free.ts';
import { HELP } from './help.ts';
import { historyCommand } from './history.ts';
import type { Invocation } from './invocation.ts';
import { plain } from './plain-text.ts';
import { showOutcome } from './show-outcome.ts';
import { limitText } from './summary.ts';
import { print, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Runs one command line and returns its exit code. Errors are printed to standard error. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<Exit> {
  try {
    return await runCommand(readArguments(argv, terminal.env), terminal);
  } catch (error) {
    if (terminal.signal.aborted) return EXIT.interrupted;
    return report(error, terminal, argv.includes('--json'));
  }
}

async function runCommand(command: Command, terminal: Terminal): Promise<Exit> {
  const { url, key, session, json } = command;
  if (command.name === 'help') {
    terminal.out.write(HELP);
    return EXIT.winner;
  }
  const polls = new EloquentPoll({
    ...(url !== undefined && { baseUrl: url }),
    ...(key !== undefined && { apiKey: key }),
    ...(session !== undefined && { session }),
  });
  const siteUrl = (url ?? BASE_URL).replace(/\/+$/, '');
  const invocation: Invocation = { polls, terminal, json, siteUrl };
  switch (command.name) {
    case 'ask':
      if (key === undefined) throw noCredentials('A poll needs an API key: put it in EP_KEY. --free asks without one.');
      return command.how === 'dry-run'
        ? dryRunCommand(invocation, command.request)
        : askCommand(invocation, command.request);
    case 'free':
      return freeCommand(invocation, command.request);
    case 'result':
      return showOutcome(await resultOf(polls, command.id, terminal.signal), invocation);
    case 'history':
      if (session === undefined) throw noCredentials(NO_SESSION);
      return historyCommand(invocation, command);
  }
}

const NO_SESSION =
  'The history opens with a login and with no key: log in with a browser, and put the value of its cookie ep_session in EP_SESSION.';

const noCredentials = (message: string): EloquentPollError =>
  new EloquentPollError(message, { code: 'authentication_required', status: 401 });

/** The id of a result, or of a poll that may still be running. */
const resultOf = (polls: EloquentPoll, id: string, signal: AbortSignal) =>
  id.startsWith('ps_') ? polls.session(id).wait({ signal }) : polls.result(id, { signal });

function report(error: unknown, { err, whenUnreachable }: Terminal, json: boolean): Exit {
  if (error instanceof UsageError) {
    print(err, json ? JSON.stringify({ error: error.message, code: 'usage' }) : `eloquentpoll: ${error.message}`);
    return EXIT.usage;
  }
  // A defect in this program: print the stack trace.
  if (!(error instanceof EloquentPollError)) throw error;
  const { code, status, retryable, recovery, issues, requestId, minCostUsd } = error;
  const hint = code === 'network_error' ? (whenUnreachable ?? NO_SERVICE) : null;
  if (json) {
    const least = minCostUsd === null ? {} : { min_cost_usd: minCostUsd };
    const body = { error: hint ?? error.message, code, status, retryable, recovery, issues, request_id: requestId };
    print(err, JSON.stringify({ ...body, ...least }));
  } else {
    print(err, `eloquentpoll: ${hint ?? plain(error.message)}`);
    if (minCostUsd !== null) print(err, `  Try --max-cost ${limitText(minCostUsd)}`);
    for (const { action, description, url } of recovery) {
      if (action !== 'open_documentation') print(err, `  ${plain(description)}${url ? ` ${plain(url)}` : ''}`);
    }
  }
  return exitOfError(error);
}

const NO_SERVICE = 'No service answers there: check --url or EP_URL.';
