import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EXIT, type Exit } from './exit-codes.ts';
import { plural } from './figures.ts';
import { writeAlone } from './file-lock.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { cutToWholeLines } from './lines-file.ts';
import { print } from './terminal.ts';
import { fileErrorOf } from './usage-error.ts';

/** Writes all data of the account as JSON lines. Completes the file of an interrupted export. */
export async function exportCommand(invocation: Invocation, out: string): Promise<Exit> {
  const { polls, terminal } = invocation;
  const { signal } = terminal;
  if (out === '-') {
    for await (const line of polls.exportAccount({}, { signal })) print(terminal.out, jsonText(line));
    return EXIT.winner;
  }
  return writeAlone(invocation, out, () => complete(invocation, out));
}

async function complete({ polls, terminal }: Invocation, out: string): Promise<Exit> {
  const { signal } = terminal;
  let cursor: string | undefined;
  let isComplete = false;
  const isKept = ({ type, cursor: found }: Record<string, unknown>): boolean => {
    if (type === 'end') isComplete = true;
    if (typeof found === 'string') cursor = found;
    return type === 'cursor' || type === 'end';
  };
  await cutToWholeLines(out, isKept, ({ type }) => type === 'account');
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
  print(
    terminal.err,
    isComplete ? `${out} was already complete.` : `${out} is complete: ${plural(lines, 'line')} added.`,
  );
  return EXIT.winner;
}
