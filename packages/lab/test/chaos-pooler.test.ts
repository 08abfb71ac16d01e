import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

// slow: 20 s

// A short fault campaign with a PgBouncer between the processes and Postgres.

const script = fileURLToPath(new URL('../src/faults/main.ts', import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 24 });

t.test(
  'polls and batches by way of a pooler that is killed: none is lost, and few connections carry all',
  async (t) => {
    const settings = ['--only', 'pooler', '--minutes', '0.1', '--in-flight', '12', '--seed', 'short'];
    const { stdout } = await run(...settings, '--json');
    const { holds, pooler } = JSON.parse(stdout);
    t.equal(holds, true);
    t.ok(pooler.counts.polls > 0 && pooler.counts['polls of batches'] > 0, 'polls and rows were run');
    t.ok(pooler.faults['kill pooler'] > 0, 'it was killed');
    t.match(pooler.counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
    for (const { rule, examples } of pooler.rules) t.same(examples, [], rule);
  },
);
