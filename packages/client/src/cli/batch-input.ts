import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

// The rows of a batch for the upload: a file that is read again for each attempt, and never loaded as a whole.

export interface BatchInput {
  rows: Blob;
  /** The hash of the file's content, independent of its name and time. */
  hash: string;
}

interface OpenInput extends BatchInput {
  close(): Promise<void>;
}

/** Standard input is copied to a temporary file, which exists until `work` has ended. */
export async function withInput<T>(
  file: string,
  format: 'jsonl' | 'csv',
  terminal: Terminal,
  work: (input: BatchInput) => Promise<T>,
): Promise<T> {
  const input = await openInput(file, format, terminal);
  try {
    return await work(input);
  } finally {
    await input.close();
  }
}

async function openInput(file: string, format: 'jsonl' | 'csv', terminal: Terminal): Promise<OpenInput> {
  const hash = createHash('sha256');
  const type = format === 'csv' ? 'text/csv' : 'application/jsonl';
  if (file !== '-') {
    if ((await sizeOf(file)) === 0) throw new UsageError(`${file} is empty.`);
    await pipeline(createReadStream(file), hash, { signal: terminal.signal });
    return { rows: await openAsBlob(file, { type }), hash: hash.digest('hex'), close: async () => {} };
  }
  // Standard input can be read only once, but an upload may be repeated.
  const folder = await mkdtemp(join(tmpdir(), 'eloquentpoll-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'rows');
    const { input = process.stdin, signal } = terminal;
    await pipeline(input, counting(hash), createWriteStream(copy, { mode: 0o600 }), { signal });
    if ((await sizeOf(copy)) === 0)
      throw new UsageError('Standard input is empty: cat rows.jsonl | eloquentpoll batch -');
    return { rows: await openAsBlob(copy, { type }), hash: hash.digest('hex'), close };
  } catch (error) {
    await close();
    throw error;
  }
}

const counting = (hash: Hash) =>
  new Transform({
    transform(piece: Buffer, _encoding, done) {
      hash.update(piece);
      done(null, piece);
    },
  });

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isFile()) return found.size;
  } catch {
    // Reported below.
  }
  throw new UsageError(`${file} is not a file that can be read.`);
}
