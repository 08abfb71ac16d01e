import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';

// The console's actions from a shell: `console.js freeze ACCOUNT --reason "three disputed cards"`. It calls the ops
// port of one gateway; the actions take effect everywhere. `help` lists the actions, `log` shows the action log,
// `account ID` shows an account. If an action failed, or its answer is lost, it prints the id with which to repeat it:
// under that id it is done only once.

interface Described {
  verb: string;
  label: string;
  fields: { name: string; label: string; isOptional: boolean }[];
}

interface Logged {
  actionId: string;
  at: string;
  operator: string;
  verb: string;
  subject: string;
  reason: string;
  outcome: string;
}

interface Result {
  outcome: string;
  detail: string;
  facts: Record<string, string>;
  /** Said if the gateway could not record the action. */
  note?: string;
}

/** Successful outcomes; any other sets exit code 1. */
const DONE = new Set([
  ...['released', 'retried', 'seen', 'frozen', 'unfrozen', 'closed', 'revoked'],
  ...['refunded', 'corrected', 'matched', 'ignored', 'stopped', 'resumed'],
]);

/** What a port for operators answers at each path of the console if its process has none. */
const NO_PAGE = 'There is no such page.';
const ACCOUNT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const { OPS_URL: opsUrl, ADMIN_TOKEN: token, OPERATOR: operator = '' } = process.env;
if (!opsUrl || !token) refuse('OPS_URL must be the port for operators of a gateway, and ADMIN_TOKEN its token');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean' },
    as: { type: 'string' },
    id: { type: 'string' },
    reason: { type: 'string' },
    amount: { type: 'string' },
    tx: { type: 'string' },
    wrong: { type: 'string' },
    right: { type: 'string' },
    account: { type: 'string' },
  },
});
const { json, as = operator, id = randomUUID(), ...fields } = values;
const [verb = 'help', subject] = positionals;
const headers = { authorization: `Bearer ${token}`, accept: 'application/json', 'x-operator': as };

if (verb === 'help') {
  const actions = (await read('/admin/actions')) as Described[];
  print(actions, () => actions.map(usageOf).join('\n'));
} else if (verb === 'log') {
  const { log } = (await read('/admin')) as { log: Logged[] };
  print(log, () =>
    log
      .map((one) => [one.at, one.operator, one.verb, one.subject, one.outcome, one.reason, one.actionId].join('\t'))
      .join('\n'),
  );
} else if (verb === 'account') {
  if (subject === undefined || !ACCOUNT_ID.test(subject))
    refuse('account ID: the id of an account is missing or wrong');
  const record = await read(`/admin/accounts/${subject}`);
  print(record, () => JSON.stringify(record, null, 2));
} else {
  await act();
}

async function act(): Promise<void> {
  const body = new URLSearchParams({ id, ...(subject !== undefined && { subject }) });
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const again = `whether it was done is not known; the same with --id ${id} does it once`;
  const answer = await ask(`/admin/${encodeURIComponent(verb)}`, { method: 'POST', body }, again);
  const text = await answer.text().catch(() => refuse(`the answer was lost: ${again}`));
  if (answer.status === 404 && text.trim() !== NO_PAGE) refuse(`there is no action ${verb}; help lists them`);
  if (answer.status !== 200 && answer.status !== 500) refuseWith(text);
  // Without an outcome the gateway has failed, perhaps after it did what was asked.
  const result = resultIn(text) ?? refuse(`the gateway failed: ${again}`);
  const facts = Object.entries(result.facts).map(([name, value]) => `${name} ${value}`);
  const note = result.note === undefined ? [] : [result.note];
  const isToRepeat = result.outcome === 'failed' || result.note !== undefined;
  const repeat = isToRepeat ? [`The same with --id ${id} repeats it, and does it once.`] : [];
  print({ ...result, id }, () => [result.detail, ...facts, ...note, ...repeat].join('\n'));
  process.exitCode = DONE.has(result.outcome) ? 0 : 1;
}

function resultIn(text: string): Result | null {
  try {
    return JSON.parse(text) as Result;
  } catch {
    return null;
  }
}

async function read(path: string): Promise<unknown> {
  const answer = await ask(path);
  if (answer.status !== 200) refuseWith(await answer.text());
  return answer.json();
}

async function ask(path: string, init: RequestInit = {}, hint = ''): Promise<Response> {
  try {
    return await fetch(new URL(path, opsUrl), {
      ...init,
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(60_000),
    });
  } catch {
    return refuse(`${opsUrl} does not answer${hint && `: ${hint}`}`);
  }
}

function usageOf({ verb, label, fields }: Described): string {
  const names = fields.map(({ name, label, isOptional }) => {
    const text = name === 'subject' ? `<${label}>` : `--${name} <${label}>`;
    return isOptional ? `[${text}]` : text;
  });
  return [`${verb} ${[...names, '--reason <why>'].join(' ')}`, `    ${label}`].join('\n');
}

function print(value: unknown, text: () => string): void {
  process.stdout.write(`${json === true ? JSON.stringify(value) : text()}\n`);
}

function refuseWith(text: string): never {
  const hasNone = `${opsUrl} has no console: it must be the port of a gateway that has ADMIN_TOKEN`;
  refuse(text.trim() === NO_PAGE ? hasNone : text.trim());
}

function refuse(why: string): never {
  process.stderr.write(`console: ${why}\n`);
  process.exit(2);
}
