import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

// slow: 45 s

// Two cells behind the router, and an account that is moved under load, its command killed once.

const script = fileURLToPath(new URL('../src/cells/main.ts', import.meta.url));

t.test(
  'an account that moves under load loses no poll and no cent, and its callers hear that they may repeat',
  async (t) => {
    const args = ['--moves', '1', '--kills', '1', '--callers', '1', '--seed', 'short', '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 24 });
    const { holds, figures, repeated, problems } = JSON.parse(stdout);
    t.same(problems, []);
    t.equal(holds, true);
    t.match(figures, { moves: 1, 'drift, uUSD': 0 });
    t.ok(figures['of the moved account'] > 0 && figures['kills of the command'] > 0);
    t.match(Object.keys(repeated).join(), /account_moving/);
  },
);
