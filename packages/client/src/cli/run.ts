import packageJson from '../../package.json' with { type: 'json' };
import { BASE_URL, EloquentPoll, EloquentPollError } from '../eloquentpoll.ts';
import { type Command, readArguments } from './arguments.ts';
import { askCommand } from './ask.ts';
import { balanceCommand } from './balance.ts';
import { batchCommand } from './batch.ts';
import { batchesCommand } from './batches.ts';
import { cancelCommand } from './cancel.ts';
import { COMPLETION } from './completion.ts';
import { readStoredKey } from './credentials.ts';
import { deleteCommand } from './delete.ts';
import { dryRunCommand } from './dry-run.ts';
import { evalCommand } from './eval.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { exportCommand } from './export.ts';
import { freeCommand } from './free.ts';
import { type Heard, notingFetch } from './heard.ts';
import { HELP } from './help.ts';
import { historyCommand } from './history.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { keysCommand } from './keys.ts';
import { loginCommand, logoutCommand } from './login.ts';
import { openCommand } from './open.ts';
import type { CliSettings } from './options.ts';
import { pollsCommand } from './polls.ts';
import { completePoll, questionFor } from './prompts.ts';
import { report, reportInterruption } from './report.ts';
import { showOutcome } from './show-outcome.ts';
import { print, programOf, type Terminal } from './terminal.ts';
import { usageCommand } from './usage.ts';
import { verifyCommand } from './verify.ts';
import { watchCommand } from './watch.ts';

/** Runs one command line and returns its exit code. Errors are printed to standard error. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<Exit> {
  let siteUrl = BASE_URL;
  const heard: Heard = { isAny: false };
  try {
    const command = readArguments(argv, terminal.env);
    siteUrl = (command.url ?? BASE_URL).replace(/\/+$/, '');
    return await runCommand(command, siteUrl, terminal, heard);
  } catch (error) {
    const json = argv.includes('--json');
    return terminal.signal.aborted
      ? reportInterruption(terminal, { json, heard })
      : report(error, terminal, { json, siteUrl, heard });
  }
}

async function runCommand(
  command: Command & CliSettings,
  siteUrl: string,
  terminal: Terminal,
  heard: Heard,
): Promise<Exit> {
  const { out } = terminal;
  switch (command.name) {
    case 'help':
      out.write(HELP);
      return EXIT.winner;
    case 'version':
      print(out, command.json ? jsonText({ version: packageJson.version }) : `eloquentpoll ${packageJson.version}`);
      return EXIT.winner;
    case 'completion':
      out.write(COMPLETION[command.shell]);
      return EXIT.winner;
    default:
      return atService(command, siteUrl, terminal, heard);
  }
}

type ServiceCommand = Exclude<Command, { name: 'help' | 'version' | 'completion' }> & CliSettings;

async function atService(command: ServiceCommand, siteUrl: string, terminal: Terminal, heard: Heard): Promise<Exit> {
  const { session, json } = command;
  const key = keyFor(command, siteUrl, terminal);
  const polls = new EloquentPoll({
    baseUrl: siteUrl,
    fetch: notingFetch(heard),
    ...(key !== undefined && { apiKey: key }),
    ...(session !== undefined && { session }),
  });
  const invocation: Invocation = { polls, terminal, json, siteUrl, heard };
  const requireKey = (what: string) => {
    if (key !== undefined) return;
    const program = programOf(terminal);
    throw noCredentials(`${what}: run ${program} login, or put a key in EP_KEY.`);
  };
  switch (command.name) {
    case 'ask': {
      if (command.how === 'free') {
        const { question, options } = await questionFor(command.poll, terminal);
        return freeCommand(invocation, { question, ...(options && { options }) }, command.options);
      }
      requireKey('A poll needs an API key (with --free it does not)');
      const request = { ...(await completePoll(command.poll, terminal)), ...command.terms };
      return command.how === 'dry-run'
        ? dryRunCommand(invocation, request)
        : askCommand(invocation, request, command.options);
    }
    case 'result':
      return showOutcome(await resultOf(polls, command.id, terminal.signal), invocation);
    case 'watch':
      if (command.ids.length === 0) requireKey('To list running polls, an API key is needed. Name an id, or');
      return watchCommand(invocation, command.ids);
    case 'cancel':
      requireKey('Cancelling needs an API key');
      return cancelCommand(invocation, command.id);
    case 'batch':
    case 'eval':
      if (session === undefined) requireKey('A batch needs an API key');
      return command.name === 'batch' ? batchCommand(invocation, command) : evalCommand(invocation, command);
    case 'batches':
      if (session === undefined) requireKey('The list of batches needs an API key');
      return batchesCommand(invocation, command.query);
    case 'export':
      if (session === undefined) requireKey('The export needs an API key');
      return exportCommand(invocation, command.out);
    case 'delete':
      if (session === undefined) requireKey('Deleting needs an API key');
      return deleteCommand(invocation, command);
    case 'open':
      return openCommand(invocation, command.id);
    case 'verify':
      return verifyCommand(invocation, command);
    case 'polls':
      if (session === undefined) requireKey('The list of polls needs an API key');
      return pollsCommand(invocation, command.query);
    case 'history':
      if (session === undefined) throw noCredentials(historyNeeds(siteUrl));
      return historyCommand(invocation, command);
    case 'balance':
      if (session === undefined) requireKey('The balance needs an API key');
      return balanceCommand(invocation);
    case 'usage':
      if (session === undefined) requireKey('The usage needs an API key');
      return usageCommand(invocation, command);
    case 'keys':
      if (session === undefined) requireKey('Managing keys needs an API key');
      return keysCommand(invocation, command);
    case 'login':
      return loginCommand(invocation, command);
    case 'logout':
      return logoutCommand(invocation);
  }
}

/** Without an explicit key, returns the one that belongs to this service. */
function keyFor({ key }: CliSettings, siteUrl: string, { env, localKey }: Terminal): string | undefined {
  return key ?? readStoredKey(env, siteUrl)?.key ?? (localKey?.siteUrl === siteUrl ? localKey.key : undefined);
}

const historyNeeds = (siteUrl: string): string =>
  `The history needs a browser login; no API key opens it. See ${siteUrl}/dashboard/polls, or put the value of the browser's cookie ep_session in EP_SESSION.`;

const noCredentials = (message: string): EloquentPollError =>
  new EloquentPollError(message, { code: 'authentication_required', status: 401 });

/** The id of a result, or of a poll that may still be running. */
async function resultOf(polls: EloquentPoll, id: string, signal: AbortSignal) {
  if (!id.startsWith('ps_')) return polls.result(id, { signal });
  const session = polls.session(id);
  // Fails at once, instead of waiting, if the service cannot be reached at all.
  await session.status({ signal });
  return session.wait({ signal, timeoutMs: Number.POSITIVE_INFINITY });
}
