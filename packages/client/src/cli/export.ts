import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EXIT, type Exit } from './exit-codes.ts';
import { plural } from './figures.ts';
import { writeAlone } from './file-lock.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { cutToWholeLines } from './lines-file.ts';
import { print, printLongList } from './terminal.ts';
import { fileErrorOf, UsageError } from './usage-error.ts';

/** Writes all data of the account as JSON lines. Completes the file of an interrupted export. */
export async function exportCommand(invocation: Invocation, out: string): Promise<Exit> {
  const { polls, terminal } = invocation;
  const { signal } = terminal;
  if (out === '-') {
    for await (const line of polls.exportAccount({}, { signal })) {
      await printLongList(terminal.out, jsonText(line), signal);
    }
    return EXIT.winner;
  }
  return writeAlone(invocation, out, () => complete(invocation, out));
}

async function complete(invocation: Invocation, out: string): Promise<Exit> {
  const { polls, terminal, json } = invocation;
  const { signal } = terminal;
  let cursor: string | undefined;
  let isComplete = false;
  let account: unknown;
  const isKept = ({ type, cursor: found }: Record<string, unknown>): boolean => {
    if (type === 'end') isComplete = true;
    if (typeof found === 'string') cursor = found;
    return type === 'cursor' || type === 'end';
  };
  const isExport = ({ type, user_id }: Record<string, unknown>): boolean => {
    account = user_id;
    return type === 'account';
  };
  await cutToWholeLines(out, isKept, isExport);
  // A cursor is a place in the export of any account.
  if (cursor !== undefined && account !== undefined && (await accountHere(invocation)) !== account)
    throw new UsageError(`${out} has the export of another account. Name another file with --out, or remove it.`);
  let lines = 0;
  async function* texts() {
    for await (const line of polls.exportAccount({ cursor }, { signal })) {
      lines++;
      yield `${jsonText(line)}\n`;
    }
  }
  if (!isComplete) {
    const writing = pipeline(Readable.from(texts()), createWriteStream(out, { flags: 'a' }), { signal });
    await writing.catch((error: unknown) => {
      throw fileErrorOf(error, out) ?? error;
    });
  }
  const said = isComplete ? `${out} was already complete.` : `${out} is complete: ${plural(lines, 'line')} added.`;
  if (json) print(terminal.out, jsonText({ out, added: lines }));
  else print(terminal.err, said);
  return EXIT.winner;
}

/** The id of the account whose key is used: in the first line of its export. */
async function accountHere({ polls, terminal }: Invocation): Promise<unknown> {
  for await (const { user_id } of polls.exportAccount({}, { signal: terminal.signal })) return user_id;
  return undefined;
}
