import { randomUUID } from 'node:crypto';
import { routeOf } from '@eloquentpoll/polls';
import { checkLedger } from '@eloquentpoll/storage';
import { hexlify, toBeHex } from 'ethers';
import { SiweMessage } from 'siwe';
import t from 'tap';
import { looksLikeApiKey } from '../../src/accounts/keys/api-key.ts';
import { LOGIN_COOKIE } from '../../src/accounts/login/login-cookie.ts';
import { build } from '../fixtures/build.ts';
import { NO_LOGIN_LIMIT, walletOwner } from '../fixtures/wallet-owner.ts';

// slow: 3 s

const gateway = await build(t, { rateLimits: NO_LOGIN_LIMIT });
const { app, context } = gateway;
const owner = () => walletOwner(gateway);
const opens = async (key: string) =>
  (await app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${key}` } })).statusCode === 200;
const ask = (query: string) => app.inject({ url: `/api/wallet/challenge${query}` });

t.test(
  '[§4.5-challenge-200, §5-wallet-nonce-5-minutes] a challenge parses with siwe and has every field',
  async (t) => {
    const { wallet, sign } = owner();
    const answer = await ask(`?address=${wallet.address}`);
    t.match(answer, { statusCode: 200, headers: { 'cache-control': 'no-store' } });
    const { message, nonce } = answer.json();
    const read = new SiweMessage(message);
    t.match(read, {
      domain: 'polls.example',
      address: wallet.address,
      uri: 'https://polls.example',
      version: '1',
      chainId: 8_453,
      nonce,
    });
    t.equal(Date.parse(read.expirationTime ?? '') - Date.parse(read.issuedAt ?? ''), 300_000);
    const { signature } = await sign(message);
    t.match(await read.verify({ signature, domain: 'polls.example', nonce }), { success: true });

    const statements = [];
    for (const purpose of ['', '&purpose=login', '&purpose=revoke', '&purpose=rotate']) {
      const { message } = (await ask(`?address=${wallet.address}${purpose}`)).json();
      statements.push(new SiweMessage(message).statement);
    }
    t.equal(new Set(statements).size, 4, 'the signer reads what the signature is for');
    const elsewhere = await app.inject({
      url: `/api/wallet/challenge?address=${wallet.address}`,
      headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    });
    t.notMatch(elsewhere.body, /evil/);
  },
);

t.test('a gateway with a wrong clock issues messages with the time of Postgres', async (t) => {
  const { wallet } = owner();
  const right = Date.now();
  const clock = t.intercept(Date, 'now', { value: () => right - 3_600_000 });
  const { message } = (await ask(`?address=${wallet.address}`)).json();
  clock.restore();
  const { issuedAt, expirationTime } = new SiweMessage(message);
  t.ok(Math.abs(Date.parse(issuedAt ?? '') - right) < 600_000, message);
  t.ok(Date.parse(expirationTime ?? '') > right, message);
});

t.test(
  '[§4.5-challenge-400, §4.5-challenge-address-required, §7-400-wallet-address] only a valid address gets a challenge; other input is a 400',
  async (t) => {
    // Of EIP-55. In a drawn one all letters but the first may have one case, and then none of them is wrong once that has it too.
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    const [wrongCase] = [...address.slice(2)].flatMap((letter, at) => {
      if (!/[a-f]/i.test(letter)) return [];
      const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      return [address.slice(0, at + 2) + other + address.slice(at + 3)];
    });
    for (const good of [address, address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`]) {
      t.match((await ask(`?address=${good}`)).json().message, address, good);
    }
    const bad = [
      wrongCase,
      '',
      '0x',
      address.slice(2),
      address.slice(0, -1),
      `${address}0`,
      `0X${address.slice(2)}`,
      `${address}%0a`,
      `%20${address}`,
      address.replace(/.$/, 'g'),
      'vitalik.eth',
      `XE${'7'.repeat(32)}`,
      '%F0%9F%98%80',
    ];
    for (const text of bad)
      t.match((await ask(`?address=${text}`)).json(), { code: 'invalid_wallet_address' }, String(text));
    for (const query of [
      '',
      '?adress=0x',
      `?address=${address}&address=${address}`,
      `?address=${address}&purpose=pay`,
    ]) {
      t.match(await ask(query), { statusCode: 400 }, query);
    }
  },
);

t.test(
  '[§4.5-verify-200, §4.5-verify-api-key, §4.5-verify-cookie, §5-cookie-after-wallet, §5-cookie-name, §5-cookie-encrypted, §5-wallet-signature, §1-support-wallet] the first login opens an account with a key, later ones open sessions',
  async (t) => {
    const { wallet, verify } = owner();
    const first = await verify();
    t.equal(first.statusCode, 200);
    const { user_id, api_key, ...rest } = first.json();
    t.same(rest, { address: wallet.address, is_new_user: true });
    t.ok(looksLikeApiKey(api_key));
    t.ok(await opens(api_key));
    const [cookie] = first.cookies;
    t.match(cookie, { name: LOGIN_COOKIE, httpOnly: true, secure: true, sameSite: 'Lax', path: '/', maxAge: 604_800 });
    t.same(first.cookies.map(({ name, value }) => [name, value]).slice(1), [
      ['ep_route', routeOf('0', first.json().user_id)],
    ]);
    const headers = { cookie: `${LOGIN_COOKIE}=${cookie?.value}` };
    const email = `${wallet.address.toLowerCase()}@wallet.invalid`;
    t.same((await app.inject({ url: '/api/auth/me', headers })).json(), { userId: user_id, email });
    t.match((await app.inject({ url: '/api/balance', headers })).json(), { balance_cents: 0 });

    const second = await verify();
    t.same(second.json(), { address: wallet.address, user_id, is_new_user: false }, 'no key is given out again');
    t.not(second.cookies[0]?.value, cookie?.value, 'every login is a session of its own');
    const other = await owner().verify();
    t.not(other.json().user_id, user_id);
    t.notMatch(gateway.log.join(''), new RegExp(`${api_key}|${wallet.address}`, 'i'), 'no log knows them');
  },
);

t.test('one wallet is one account for every spelling of its address and signature', async (t) => {
  const { wallet, challenge, sign, verify } = owner();
  const spellings = [wallet.address, wallet.address.toLowerCase(), `0x${wallet.address.slice(2).toUpperCase()}`];
  const users = new Set<string>();
  for (const as of spellings) {
    for (const form of ['27', '0']) {
      const { message, signature } = await sign(await challenge(undefined, as));
      const v = Number.parseInt(signature.slice(-2), 16);
      const spelled =
        form === '27' ? signature.toUpperCase().replace('0X', '0x') : signature.slice(0, -2) + toBeHex(v - 27).slice(2);
      const answer = await verify({ message, signature: spelled });
      t.equal(answer.statusCode, 200, `${as} ${form}`);
      users.add(answer.json().user_id);
    }
  }
  t.equal(users.size, 1);
});

t.test('concurrent first logins of one wallet create one account with one key', async (t) => {
  const { proof, verify } = owner();
  // The maximum of open challenges per client and address.
  const proofs = await Promise.all(Array.from({ length: 5 }, () => proof()));
  const answers = await Promise.all(proofs.map((one) => verify(one)));
  const logins = answers.map((answer) => answer.json());
  t.same(new Set(answers.map((answer) => answer.statusCode)), new Set([200]));
  t.equal(new Set(logins.map(({ user_id }) => user_id)).size, 1);
  t.equal(logins.filter(({ is_new_user }) => is_new_user).length, 1);
  t.equal(logins.filter(({ api_key }) => api_key !== undefined).length, 1);
  const rows = await context.storage.db
    .selectFrom('api_keys')
    .select('id')
    .where('account_id', '=', logins[0].user_id)
    .execute();
  t.equal(rows.length, 1);
});

t.test(
  '[§3.3-wallet-revoke-one, §4.5-revoke-key-200, §4.5-revoke-key-404] a wallet revokes a key of its own; a key of another account is a 404',
  async (t) => {
    const mine = owner();
    const theirs = owner();
    const [{ api_key }, { api_key: foreign }] = [(await mine.verify()).json(), (await theirs.verify()).json()];
    const idOf = async (key: string) =>
      (await app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${key}` } })).json()[0].id;
    const [id, foreignId] = [await idOf(api_key), await idOf(foreign)];

    t.match((await mine.revoke(foreignId)).json(), { code: 'key_not_found' });
    t.ok(await opens(foreign), 'still theirs');
    t.match((await mine.revoke(randomUUID())).json(), { code: 'key_not_found' });
    const answer = await mine.revoke(id, await mine.proof('revoke'));
    t.same(answer.json(), { revoked: true, key_id: id });
    t.equal(answer.cookies.length, 0, 'revoking does not sign in');
    t.notOk(await opens(api_key));
    t.match((await mine.revoke(id)).json(), { code: 'key_not_found' }, 'again');
    t.match((await owner().revoke(id)).json(), { code: 'wallet_not_found' });
  },
);

t.test(
  '[§3.3-rotate-revokes-all, §3.3-rotate-issues-key, §4.5-rotate-key-200, §4.5-rotate-key-404] rotation revokes all keys and issues one',
  async (t) => {
    const { verify, rotate, proof } = owner();
    const first = await verify();
    const { api_key } = first.json();
    const bearer = { authorization: `Bearer ${api_key}` };
    const session = { cookie: `${LOGIN_COOKIE}=${first.cookies.find(({ name }) => name === LOGIN_COOKIE)?.value}` };
    const balance = async () => (await app.inject({ url: '/api/balance', headers: session })).statusCode;
    t.equal(await balance(), 200, 'and it is signed in');
    const keys = [api_key];
    for (let i = 0; i < 3; i++) {
      keys.push((await app.inject({ method: 'POST', url: '/api/keys', headers: bearer })).json().key);
    }
    for (const key of keys) t.ok(await opens(key), 'remembered as good');
    const answer = await rotate(await proof('rotate'));
    const { api_key: fresh, key_id, ...rest } = answer.json();
    t.match(rest, { revoked_count: 4, key_prefix: fresh.slice(0, 10), warning: /not be shown again/ });
    t.equal(answer.cookies.length, 0, 'rotating does not sign in');
    for (const key of keys) t.notOk(await opens(key));
    t.equal(await balance(), 401, 'its logins have ended as well');
    const headers = { authorization: `Bearer ${fresh}` };
    const listed = (await app.inject({ url: '/api/keys', headers })).json();
    t.same(
      listed
        .filter((key: { revoked_at: null | string }) => key.revoked_at === null)
        .map(({ id }: { id: string }) => id),
      [key_id],
    );
    await app.inject({ method: 'DELETE', url: `/api/keys/${key_id}`, headers });
    t.match((await rotate()).json(), { revoked_count: 0 }, 'also with no key left');
    t.match((await owner().rotate()).json(), { code: 'wallet_not_found' });
  },
);

t.test(
  '[§4.5-verify-fields-required, §4.5-revoke-key-fields-required, §4.5-rotate-key-fields-required] a proof with a missing or non-string field is a 400',
  async (t) => {
    const { proof } = owner();
    const good: Record<string, unknown> = { ...(await proof()), key_id: randomUUID() };
    const paths = {
      verify: ['message', 'signature'],
      'rotate-key': ['message', 'signature'],
      'revoke-key': Object.keys(good),
    };
    for (const [path, fields] of Object.entries(paths)) {
      for (const field of fields) {
        for (const value of [undefined, null, 5, [good[field]], { a: 1 }]) {
          const payload = { ...good, [field]: value };
          const answer = await app.inject({ method: 'POST', url: `/api/wallet/${path}`, payload });
          t.match([answer.statusCode, answer.json().code], [400, 'validation_error'], `${path} ${field}`);
        }
      }
    }
    for (const key_id of ['x', hexlify(Buffer.alloc(16)), '']) {
      const answer = await app.inject({ method: 'POST', url: '/api/wallet/revoke-key', payload: { ...good, key_id } });
      t.equal(answer.statusCode, 400);
    }
  },
);

t.test('the ledger is unchanged', async (t) => {
  t.same(await checkLedger(context.storage), []);
});
