import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileErrorOf, UsageError } from './usage-error.ts';

// Records in a small file next to the results to which batch they belong. An interrupted command uses it to continue
// with its batch.

export interface BatchState {
  service: string;
  /** The hash of the rows and their terms. */
  content: string;
  idempotency_key: string;
  /** Null until the service has accepted the rows. */
  batch_id: string | null;
}

export const stateFile = (out: string): string => `${out}.batch.json`;

export function readState(out: string): BatchState | null {
  const file = stateFile(out);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    const found: unknown = JSON.parse(text);
    if (isState(found)) return found;
  } catch {
    // Invalid JSON is treated like JSON of another shape.
  }
  throw new UsageError(
    `${file} is damaged. Remove it to start again, or continue with: batch pb_… (the command batches lists ids).`,
  );
}

/** Replaces the whole file, so that an interrupted write keeps the old one. */
export function writeState(out: string, state: BatchState): void {
  const file = stateFile(out);
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`);
    renameSync(draft, file);
  } catch (error) {
    throw fileErrorOf(error, file) ?? error;
  }
}

const isState = (value: unknown): value is BatchState => {
  if (typeof value !== 'object' || value === null) return false;
  const { service, content, idempotency_key, batch_id } = value as Partial<Record<keyof BatchState, unknown>>;
  const texts = [service, content, idempotency_key].every((one) => typeof one === 'string');
  return texts && (typeof batch_id === 'string' || batch_id === null);
};
