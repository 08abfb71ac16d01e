import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

// slow: 45 s

// Two cells behind the router, and an account that is moved under load, its command killed once.

const MAX_RUNS = 3;
const script = fileURLToPath(new URL('../src/cells/main.ts', import.meta.url));

t.test(
  'an account that moves under load loses no poll and no cent, and its callers hear that they may repeat',
  async (t) => {
    const args = ['--moves', '1', '--kills', '1', '--callers', '1', '--seed', 'short', '--json'];
    let [wasKilled, wasRefused] = [false, false];
    // A command may end before its signal comes, and a freeze between two requests; each run must hold all the same.
    for (let run = 0; run < MAX_RUNS && !(wasKilled && wasRefused); run++) {
      const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], { maxBuffer: 2 ** 24 });
      const { holds, figures, repeated, problems } = JSON.parse(stdout);
      t.same(problems, []);
      t.equal(holds, true);
      t.match(figures, { moves: 1, 'drift, uUSD': 0 });
      t.ok(figures['of the moved account'] > 0);
      wasKilled ||= figures['kills of the command'] > 0;
      wasRefused ||= /account_moving/.test(Object.keys(repeated).join());
    }
    t.ok(wasKilled, 'the command was killed');
    t.ok(wasRefused, 'callers were asked to repeat');
  },
);
