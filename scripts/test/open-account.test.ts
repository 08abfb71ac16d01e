import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { hashApiKey } from '@eloquentpoll/gateway/api-key';
import { root } from '@eloquentpoll/launch/folders';
import { asOwner, testDatabase } from '@eloquentpoll/testkit/database';
import t from 'tap';

const PROGRAM = join(root, 'scripts/operator/open-account.ts');
const KEY_PEPPER = 'x'.repeat(32);

function open(databaseUrl: string, ...args: string[]) {
  const env = { DATABASE_URL: databaseUrl, KEY_PEPPER };
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

t.test('an operator opens an account with money and a key; amounts that make no sense open none', async (t) => {
  const url = await testDatabase(t);
  const { status, stdout, stderr } = open(url, '25');
  t.same([status, stderr], [0, '']);
  const made = JSON.parse(stdout);
  t.match(made, { balance_usd: 25, api_key: /^ep_k_\w+$/ });
  const kept = `select b.posted_u::int as u, encode(k.hash, 'hex') as hash, k.label
    from accounts a join balances b on b.account_id = a.id join api_keys k on k.account_id = a.id
    where a.id = '${made.account_id}'`;
  const hash = hashApiKey(KEY_PEPPER, made.api_key).toString('hex');
  t.same(await asOwner(url, kept), [{ u: 25_000_000, hash, label: 'first' }]);
  for (const usd of ['0', '-1', '1.5', 'much', '10000000000'])
    t.match(open(url, usd), { status: 2, stdout: '', stderr: /^open-account: say how many whole US dollars/ }, usd);
  t.match(await asOwner(url, "select count(*)::int as n from accounts where kind = 'user'"), [{ n: 1 }]);
});

t.test('a key that cannot be stored leaves no account with money behind', async (t) => {
  const url = await testDatabase(t);
  await asOwner(url, "alter table api_keys add constraint none_here check (label <> 'first')");
  const { status, stdout, stderr } = open(url, '25');
  t.same([status, stdout], [2, '']);
  t.match(stderr, /^open-account: the database refused the statement/);
  t.match(await asOwner(url, "select count(*)::int as n from accounts where kind = 'user'"), [{ n: 0 }]);
});
