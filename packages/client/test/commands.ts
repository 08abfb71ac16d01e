import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { run } from '../src/cli/run.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { pipes, terminal } from './screen.ts';
import { type Answering, batch, batchResult, jsonLines, serve, withoutWaiting } from './service.ts';

// Commands of the command line about batches, and a service that has one.

export const ROWS = jsonLines(
  [1, 2, 3].map((i) => ({ question: `Which is larger, ${i}?`, options: ['The Sun', 'The Moon'] })),
);

/** Three rows, of which one more has ended at each look. */
export function threeRows(more: object = {}): Answering {
  let looks = 0;
  return ({ method, path }, response) => {
    if (method === 'POST') {
      response.statusCode = 202;
      return batch(0, 3);
    }
    if (!path.endsWith('/results')) return batch(Math.min(3, looks++), 3, more);
    response.setHeader('content-type', 'application/jsonl');
    return void response.end(jsonLines([1, 2, 3].map((line) => batchResult(line))));
  };
}

export async function used(t: Test, argv: string[], answering: Answering = threeRows(), given: Partial<Terminal> = {}) {
  withoutWaiting(t, (ms) => ms > 1_500 && ms <= 2_000);
  const { url, asked } = await serve(t, answering);
  const { texts, ...outputs } = pipes();
  const exit = await run(argv, terminal({ ...outputs, env: { EP_URL: url, EP_KEY: 'ep_k_x' }, ...given }));
  return { exit, ...texts, asked, url };
}

export function rowsIn(t: Test, name = 'rows.jsonl', text = ROWS): string {
  const file = join(t.testdir(), name);
  writeFileSync(file, text);
  return file;
}
