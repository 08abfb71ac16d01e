import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '@eloquentpoll/launch/folders';
import t from 'tap';

// Nothing listens on these ports.
const DATABASE_URL = 'postgres://owner:hush@127.0.0.1:1/eloquentpoll';
const CELL_URLS = `0=${DATABASE_URL} 1=${DATABASE_URL}`;

const COMMANDS = [['check-ledger', '--full'], ['open-account', '25'], ['track-records'], ['cells', 'check']] as const;

for (const [name, ...args] of COMMANDS)
  t.test(
    `${name} without its database ends with one sentence and code 2, which is not that of a finding`,
    async (t) => {
      const env = { DATABASE_URL, CELL_URLS, KEY_PEPPER: 'x'.repeat(32) };
      const program = join(root, 'scripts/operator', `${name}.ts`);
      const { code, stderr } = await promisify(execFile)(process.execPath, [program, ...args], { env }).catch((e) => e);
      t.equal(code, 2);
      t.match(stderr, new RegExp(`^${name}: .*the database cannot be reached: .*ECONNREFUSED 127\\.0\\.0\\.1:1.*\\n$`));
      t.notMatch(stderr, /hush/);
    },
  );

t.test('npm run db takes an address with several servers, and says which one does not answer', async (t) => {
  const env = { DATABASE_URL: 'postgres://owner:hush@127.0.0.1:1,127.0.0.1:2/eloquentpoll', DB_SHELL: 'own' };
  const program = join(root, 'scripts/db.ts');
  const { code, stderr } = await promisify(execFile)(process.execPath, [program, 'select 1'], { env }).catch((e) => e);
  t.equal(code, 1);
  t.match(stderr, /^\nThe database at 127\.0\.0\.1:1 does not answer \(.*\): is `npm run dev` running\?\n$/);
});
