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

/**
 * Recomputes what a receipt states. Keys and days in files take precedence over those that the service sends. With a
 * file and `--keys`, no service is contacted.
 */
export async function verifyCommand(invocation: Invocation, command: VerifyCommand): Promise<Exit> {
  const { terminal, json } = invocation;
  const { what } = command;
  const { receipt, known } = isResultId(what)
    ? await published(invocation, command)
    : await inFile(invocation, command);
  const found = await verifyReceipt(receipt, known);
  const verified = isResultId(what) ? ofResult(found, what) : found;
  const { statement, parts, isGood } = verified;
  const result_id = statement?.result_id ?? null;
  print(terminal.out, ...(json ? [jsonText({ result_id, good: isGood, parts })] : lines(invocation, verified)));
  return isGood ? EXIT.winner : EXIT.unproved;
}

/** The service could send the receipt and the result of another poll, which are valid. */
function ofResult(found: Verified, id: string): Verified {
  const { statement, parts } = found;
  if (statement === null || statement.result_id === id) return found;
  const says = `The receipt is of ${statement.result_id}, not of ${id}.`;
  return {
    statement,
    parts: parts.map((part) => (part.name === 'result' ? { ...part, state: 'fails', says } : part)),
    isGood: false,
  };
}

const isResultId = (text: string): boolean => /^EP-\d{4}-\d\d-\d\d-\w+$/.test(text);

interface Evidence {
  receipt: string;
  known: Known;
}

async function published(invocation: Invocation, { what: id, keys, days }: VerifyCommand): Promise<Evidence> {
  const { polls, terminal } = invocation;
  const { signal } = terminal;
  const [receipt, knownKeys, result] = await Promise.all([
    polls.receipt(id, { signal }),
    keysOf(invocation, keys),
    polls.result(id, { signal }),
  ]);
  const knownDays = days === undefined ? await dayOf(polls, id, receipt, signal) : await daysIn(days);
  return { receipt: JSON.stringify(receipt), known: { keys: knownKeys, days: knownDays, result } };
}

async function inFile(invocation: Invocation, { what, keys, days }: VerifyCommand): Promise<Evidence> {
  const receipt = await contents(what);
  const known: Known = {
    keys: await keysOf(invocation, keys),
    days: days === undefined ? undefined : await daysIn(days),
  };
  return { receipt, known };
}

async function keysOf({ polls, terminal }: Invocation, file: string | undefined): Promise<ReceiptKeys['keys']> {
  const { signal } = terminal;
  return (file === undefined ? await polls.receiptKeys({ signal }) : await readJson<ReceiptKeys>(file, 'keys')).keys;
}

const daysIn = async (file: string): Promise<ReceiptDays['days']> => (await readJson<ReceiptDays>(file, 'days')).days;

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
