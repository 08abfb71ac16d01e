import { readFile } from 'node:fs/promises';
import { type Known, type Verified, verifyReceipt } from '@eloquentpoll/receipts';
import type { EloquentPoll, ReceiptDays, ReceiptKeys, ResultReceipt } from '../eloquentpoll.ts';
import type { Command } from './arguments.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { pad, plain } from './plain-text.ts';
import { print, styleOf } from './terminal.ts';
import { UsageError } from './usage-error.ts';

type VerifyCommand = Extract<Command, { name: 'verify' }>;

/** Recomputes what a receipt states. With a file and `--keys`, no service is contacted. */
export async function verifyCommand(invocation: Invocation, command: VerifyCommand): Promise<Exit> {
  const { terminal, json } = invocation;
  const { receipt, known } = isResultId(command.what)
    ? await published(invocation, command.what)
    : await inFile(invocation, command);
  const verified = await verifyReceipt(receipt, known);
  const { statement, parts, isGood } = verified;
  const result_id = statement?.result_id ?? null;
  print(terminal.out, ...(json ? [jsonText({ result_id, good: isGood, parts })] : lines(invocation, verified)));
  return isGood ? EXIT.winner : EXIT.unproved;
}

const isResultId = (text: string): boolean => /^EP-\d{4}-\d\d-\d\d-\w+$/.test(text);

interface Evidence {
  receipt: string;
  known: Known;
}

async function published({ polls, terminal }: Invocation, id: string): Promise<Evidence> {
  const { signal } = terminal;
  const [receipt, keys, result] = await Promise.all([
    polls.receipt(id, { signal }),
    polls.receiptKeys({ signal }),
    polls.result(id, { signal }),
  ]);
  const days = await dayOf(polls, id, receipt, signal);
  return { receipt: JSON.stringify(receipt), known: { keys: keys.keys, days, result } };
}

async function inFile({ polls, terminal }: Invocation, { what, keys, days }: VerifyCommand): Promise<Evidence> {
  const { signal } = terminal;
  const receipt = await contents(what);
  const known: Known = {
    keys: (keys === undefined ? await polls.receiptKeys({ signal }) : await readJson<ReceiptKeys>(keys, 'keys')).keys,
    days: days === undefined ? undefined : (await readJson<ReceiptDays>(days, 'days')).days,
  };
  return { receipt, known };
}

/** The published day that contains the receipt. */
async function dayOf(polls: EloquentPoll, resultId: string, { proof }: ResultReceipt, signal: AbortSignal) {
  return proof === null ? undefined : (await polls.receiptDays({ day: proof.day, resultId }, { signal })).days;
}

async function contents(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new UsageError(`${file} is neither a result id (EP-…) nor a file that can be read.`);
  }
}

/** Reads a JSON file whose member `list` is a list. */
async function readJson<T>(file: string, list: keyof T & string): Promise<T> {
  try {
    const read: unknown = JSON.parse(await contents(file));
    const items: unknown = isObject(read) ? read[list as keyof typeof read] : null;
    if (Array.isArray(items) && items.every(isObject)) return read as T;
  } catch (error) {
    if (error instanceof UsageError) throw error;
  }
  throw new UsageError(`${file} is not JSON with a list of ${list}.`);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const MARK = { holds: 'ok', fails: 'FAILS', unchecked: 'unchecked' } as const;

function lines({ terminal }: Invocation, { statement, parts, isGood }: Verified): string[] {
  const ink = styleOf(terminal);
  const failing = parts.filter(({ state }) => state === 'fails').map(({ name }) => name);
  const open = parts.some(({ state }) => state === 'unchecked');
  const good = open ? 'Everything that could be checked is valid.' : 'Everything is valid.';
  return [
    ink.bold(isGood ? good : `This receipt is not valid: ${failing.join(', ') || 'its signature was not checked'}.`),
    ...(statement === null ? [] : [plain(statement.result_id)]),
    ...parts.map(({ name, state, says }) => `  ${pad(name, 10)} ${pad(MARK[state], 10)} ${plain(says)}`),
  ];
}
