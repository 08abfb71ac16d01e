import { randomUUID } from 'node:crypto';
import { closeAccount, createAccount, findLogin } from '@eloquentpoll/storage';
import t from 'tap';
import { createLogin, endLogin, loginCookieOptions, readLogin, sealer } from '../../src/accounts/login/login-cookie.ts';
import { build } from '../fixtures/build.ts';

const OLD = 'an older secret of at least 32 characters';
const NEW = 'a newer secret of at least 32 characters!';

t.test(
  '[§5-cookie-name, §5-cookie-encrypted] a sealed cookie opens; with any character changed it does not',
  async (t) => {
    const { seal, open } = sealer([NEW]);
    const id = randomUUID();
    const cookie = await seal(id);
    t.notMatch(cookie, id);
    t.notMatch(Buffer.from(cookie.split('.')[0]!, 'base64url').toString(), id);
    t.equal(await open(cookie), id);
    for (let i = 0; i < cookie.length; i++) {
      // The last character of a part may carry bits that mean nothing; every other value must be refused.
      for (const other of ['A', 'Q', '_', '.']) {
        if (other === cookie[i]) continue;
        const forged = cookie.slice(0, i) + other + cookie.slice(i + 1);
        const opened = await open(forged);
        if (opened !== null)
          t.equal(Buffer.compare(bytesOf(forged), bytesOf(cookie)), 0, 'only another spelling of the same');
      }
    }
    for (const nonsense of ['', 'a.b.c.d.e', 'x'.repeat(10_000), cookie.slice(1)]) t.equal(await open(nonsense), null);
  },
);

const bytesOf = (cookie: string): Buffer =>
  Buffer.concat(cookie.split('.').map((part) => Buffer.from(part, 'base64url')));

t.test('a cookie opens as long as its secret is listed', async (t) => {
  const cookie = await sealer([OLD]).seal('id');
  t.equal(await sealer([NEW, OLD]).open(cookie), 'id');
  t.equal(await sealer([NEW]).open(cookie), null);
  t.equal(await sealer([OLD]).open(await sealer([NEW, OLD]).seal('id')), null, 'the first one seals');
});

t.test('cookies of ended, idle, expired and deleted logins read as null', async (t) => {
  const { context } = await build(t);
  const accountId = await createAccount(context.storage);
  const begin = async () => {
    const cookie = await createLogin(context, { accountId });
    const login = await readLogin(context, cookie);
    t.equal(login?.accountId, accountId);
    return { cookie, id: login!.loginId };
  };
  const ended = await begin();
  await endLogin(context, ended.id);
  t.equal(await readLogin(context, ended.cookie), null);

  for (const change of [{ last_seen_at: hoursAgo(25) }, { expires_at: hoursAgo(0) }]) {
    const { cookie, id } = await begin();
    await context.storage.db.updateTable('logins').set(change).where('id', '=', id).execute();
    t.equal(await readLogin(context, cookie), null, Object.keys(change).join());
  }

  const used = await begin();
  await context.storage.db
    .updateTable('logins')
    .set({ last_seen_at: hoursAgo(23) })
    .where('id', '=', used.id)
    .execute();
  t.ok(await readLogin(context, used.cookie));
  const row = await context.storage.db
    .selectFrom('logins')
    .select('last_seen_at')
    .where('id', '=', used.id)
    .executeTakeFirstOrThrow();
  t.ok(Date.now() - row.last_seen_at.getTime() < 60_000, 'use is noted');

  await closeAccount(context.storage, accountId);
  t.equal(await findLogin(context.storage, used.id), null);
});

const hoursAgo = (hours: number): Date => new Date(Date.now() - hours * 3_600_000 - 1_000);

t.test('the cookie is HttpOnly, SameSite=Lax, without a domain, and Secure on https', async (t) => {
  t.match(loginCookieOptions('https://polls.example'), { httpOnly: true, sameSite: 'lax', secure: true, path: '/' });
  t.equal(loginCookieOptions('http://localhost:8080').secure, false);
  t.notOk('domain' in loginCookieOptions('https://polls.example'));
});
