import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { bareEnvironment } from '@eloquentpoll/services/bare-environment';
import { asOwner, testDatabase } from '@eloquentpoll/testkit/database';
import t from 'tap';

const PROGRAM = join(root, 'scripts/operator/check-ledger.ts');

function check(databaseUrl: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    env: { ...bareEnvironment(), DATABASE_URL: databaseUrl },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

t.test('an operator checks the ledger; violations are lines on the standard output and code 1', async (t) => {
  const url = await testDatabase(t);
  t.match(check(url), { status: 0, stdout: '', stderr: /the books balance/ });
  t.match(check(url, '--full'), {
    status: 0,
    stdout: '',
    stderr: /polls: 100 %.*open part: 100 %.*the books balance/s,
  });
  await asOwner(url, "insert into accounts (kind) values ('user')");
  const { status, stdout, stderr } = check(url, '--full');
  t.equal(status, 1);
  t.match(JSON.parse(stdout), { rule: 'no_balance' });
  t.match(stderr, /1 rules are violated/);
  t.match(check(url, '--all'), { status: 2, stderr: /--all is not known/ });
});
