import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

// slow: 20 s

// A short campaign in which the primary is killed and its synchronous standby promoted.

const script = fileURLToPath(new URL('../src/faults/main.ts', import.meta.url));
const run = (...args: string[]) => promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 24 });

t.test(
  'after a failover everything that was acknowledged is there, and what was unknown is found by its key',
  async (t) => {
    const settings = ['--only', 'failover', '--minutes', '0.1', '--in-flight', '12', '--seed', 'short'];
    const { stdout } = await run(...settings, '--json');
    const { holds, failover } = JSON.parse(stdout);
    t.equal(holds, true);
    t.ok(failover.counts.polls > 0, 'polls were asked');
    t.equal(failover.faults['fail over'], 1);
    t.match(failover.counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
    for (const { rule, examples } of failover.rules) t.same(examples, [], rule);
  },
);
