import { checkLedger } from '@eloquentpoll/storage';
import fc from '@eloquentpoll/testkit/fast-check';
import { Signature, toBeHex, Wallet } from 'ethers';
import { SiweMessage } from 'siwe';
import t from 'tap';
import { signerOf } from '../../src/accounts/wallets/signer.ts';
import { build } from '../fixtures/build.ts';
import { NO_LOGIN_LIMIT, type Proof, walletOwner } from '../fixtures/wallet-owner.ts';

// slow: 3 s

const gateway = await build(t, { rateLimits: NO_LOGIN_LIMIT });
const { app, context } = gateway;
const owner = () => walletOwner(gateway);
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const statusOf = async (answer: Promise<{ statusCode: number }>): Promise<number> => (await answer).statusCode;

t.test(
  '[§4.5-verify-401, §7-401-wallet, §8-wallet-nonce] a signature is accepted once, within 5 minutes',
  async (t) => {
    const { proof, verify, rotate, revoke } = owner();
    const used = await proof();
    t.equal(await statusOf(verify(used)), 200);
    t.match((await verify(used)).json(), { code: 'invalid_wallet_signature' }, 'replayed');
    t.equal(await statusOf(rotate(used)), 401);
    t.equal(await statusOf(revoke(crypto.randomUUID(), used)), 401);

    const aged = async (seconds: number): Promise<Proof> => {
      const given = await proof();
      const { nonce } = new SiweMessage(given.message);
      const { db } = context.storage;
      const row = db.selectFrom('nonces').select('expires_at').where('nonce', '=', nonce);
      const { expires_at } = await row.executeTakeFirstOrThrow();
      const sooner = new Date(expires_at.getTime() - seconds * 1_000);
      await db.updateTable('nonces').set({ expires_at: sooner }).where('nonce', '=', nonce).execute();
      return given;
    };
    t.equal(await statusOf(verify(await aged(280))), 200);
    const late = await aged(300);
    for (const act of [verify(late), rotate(late), revoke(crypto.randomUUID(), late)])
      t.equal(await statusOf(act), 401);
  },
);

t.test(
  '[§4.5-verify-401, §4.5-rotate-key-401, §4.5-revoke-key-401] a message that differs from the issued one in any byte is a 401, also when properly signed',
  async (t) => {
    const { wallet, challenge, sign, verify, rotate, revoke } = owner();
    const stranger = owner();
    const message = await challenge();
    const fields = new SiweMessage(message);
    const rewritten = (change: Partial<SiweMessage>) => new SiweMessage({ ...fields, ...change }).prepareMessage();
    const forgeries: Record<string, string> = {
      'wrong domain': rewritten({ domain: 'evil.example' }),
      'our domain as a prefix': rewritten({ domain: 'polls.example.evil.example' }),
      'a port': rewritten({ domain: 'polls.example:8443' }),
      'a scheme': rewritten({ scheme: 'https' }),
      'wrong uri': rewritten({ uri: 'https://evil.example' }),
      'other chain': rewritten({ chainId: 1 }),
      'self-made nonce': rewritten({ nonce: 'abcdefgh12345678' }),
      'tampered statement': rewritten({ statement: 'Give it all away.' }),
      'no statement': message.replace(/\n\n.*\n\n/, '\n\n\n'),
      'later expiry': rewritten({ expirationTime: new Date(Date.now() + 1e9).toISOString() }),
      'no expiry': message.replace(/\nExpiration Time: .*/, ''),
      'future notBefore': rewritten({ notBefore: new Date(Date.now() + 1e9).toISOString() }),
      'past notBefore': rewritten({ notBefore: new Date(0).toISOString() }),
      'other issuedAt': rewritten({ issuedAt: new Date(0).toISOString() }),
      'a request id': rewritten({ requestId: 'r' }),
      'a resource': rewritten({ resources: ['https://evil.example/'] }),
      'other version': message.replace('Version: 1', 'Version: 2'),
      'other address': rewritten({ address: stranger.wallet.address }),
      'lower-case address': message.replace(wallet.address, wallet.address.toLowerCase()),
      CRLF: message.replaceAll('\n', '\r\n'),
      'line break at the end': `${message}\n`,
      'space at the end': `${message} `,
      'byte order mark': `\ufeff${message}`,
      'look-alike letter': message.replace('polls', 'p\u043ells'),
      'two nonces': `${message}\nNonce: ${'a'.repeat(17)}`,
      'only a nonce': `Nonce: ${fields.nonce}`,
      nothing: '',
      text: 'sign in please',
    };
    for (const [name, forged] of Object.entries(forgeries)) {
      t.not(forged, message, name);
      const proof = await sign(forged);
      for (const act of [verify(proof), rotate(proof), revoke(crypto.randomUUID(), proof)]) {
        t.match((await act).json(), { code: 'invalid_wallet_signature' }, name);
      }
    }
    const { signature } = await sign(message);
    t.equal(await statusOf(verify({ message: `${message}${' '.repeat(4_096)}`, signature })), 400, 'over 4 KB');
    t.equal(await statusOf(verify({ message, signature: `0x${'0'.repeat(8_192)}` })), 400);

    t.equal(await statusOf(verify(await stranger.sign(message))), 401, "another wallet's signature");
    const theirs = await stranger.challenge();
    t.equal(await statusOf(verify(await sign(theirs))), 401, "another wallet's challenge");
    const swapped = theirs.replace(/Nonce: .*/, `Nonce: ${fields.nonce}`);
    t.equal(await statusOf(verify(await stranger.sign(swapped))), 401, "another wallet's nonce");
    t.equal(await statusOf(verify({ message, signature })), 200, 'none of it has burned the challenge');
  },
);

t.test('a signature for one purpose is a 401 for another', async (t) => {
  const { proof, verify, rotate, revoke } = owner();
  await verify();
  const actions: Record<string, (given: Proof) => Promise<number>> = {
    login: (given) => statusOf(verify(given)),
    rotate: (given) => statusOf(rotate(given)),
    revoke: (given) => statusOf(revoke(crypto.randomUUID(), given)),
  };
  for (const purpose of Object.keys(actions)) {
    const given = await proof(purpose);
    for (const [action, act] of Object.entries(actions)) {
      if (action !== purpose) t.equal(await act(given), 401, `${purpose} as ${action}`);
    }
    t.equal(await actions[purpose]?.(given), purpose === 'revoke' ? 404 : 200, `${purpose} as ${purpose}`);
    t.equal(await actions[purpose]?.(given), 401, `${purpose} again`);
  }
});

t.test('malformed signatures are a 401, and the nonce stays valid', async (t) => {
  const { proof, verify } = owner();
  const { message, signature } = await proof();
  const { r, s, v, compactSerialized } = Signature.from(signature);
  const [rHex, sHex] = [r.slice(2), s.slice(2)];
  const zero = '0'.repeat(64);
  const flipped = v === 27 ? '1c' : '1b';
  const odd = [
    '',
    '0x',
    signature.slice(2),
    signature.replace('0x', '0X'),
    compactSerialized,
    signature.slice(0, -2),
    `${signature}00`,
    `0x${signature}`,
    ` ${signature}`,
    `${signature}\n`,
    ...['gg', '1d', '1a', '02', 'ff', '23', '25'].map((tail) => signature.slice(0, -2) + tail),
    `0x${rHex}${sHex}${flipped}`,
    `0x${rHex}${toBeHex(ORDER - BigInt(s), 32).slice(2)}${flipped}`,
    `0x${rHex}${toBeHex(ORDER - BigInt(s), 32).slice(2)}${signature.slice(-2)}`,
    `0x${zero}${sHex}1b`,
    `0x${rHex}${zero}1b`,
    `0x${zero}${zero}1b`,
    `0x${toBeHex(ORDER, 32).slice(2)}${sHex}1b`,
    `0x${'f'.repeat(64)}${sHex}1b`,
    `0x${rHex}${toBeHex(ORDER, 32).slice(2)}1b`,
    `0x${sHex}${rHex}${signature.slice(-2)}`,
    'not hexadecimal at all',
  ];
  for (const wrong of odd) {
    t.match((await verify({ message, signature: wrong })).json(), { code: 'invalid_wallet_signature' }, wrong);
  }
  t.equal(await statusOf(verify({ message, signature })), 200);
  t.notOk(
    gateway.log.some((line) => line.includes('request.failed')),
    'no error is logged',
  );
});

t.test('the malleated copy of a signature is a 401', async (t) => {
  const wallet = Wallet.createRandom();
  const bytes = fc.uint8Array({ minLength: 65, maxLength: 65 });
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary' }),
      fc.nat(64),
      fc.integer({ min: 1, max: 255 }),
      async (text, at, flip) => {
        const signature = await wallet.signMessage(text);
        if ((await signerOf(text, signature)) !== wallet.address) return false;
        const { r, s, v } = Signature.from(signature);
        const twin = `0x${r.slice(2)}${toBeHex(ORDER - BigInt(s), 32).slice(2)}${toBeHex(v ^ 7).slice(2)}`;
        if ((await signerOf(text, twin)) !== null) return false;
        const changed = Buffer.from(signature.slice(2), 'hex');
        changed[at]! ^= flip;
        const meansTheSame = at === 64 && changed[64] === v - 27;
        return meansTheSame || (await signerOf(text, `0x${changed.toString('hex')}`)) !== wallet.address;
      },
    ),
    { numRuns: 100 },
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (noise) => {
      const signer = await signerOf('a message', `0x${Buffer.from(noise).toString('hex')}`);
      return signer !== wallet.address;
    }),
    { numRuns: 100 },
  );
  t.pass('no changed signature recovers the address of the wallet');
});

t.test('of 100 concurrent uses of one signature exactly one succeeds', async (t) => {
  const { proof, verify } = owner();
  const one = await proof();
  const statuses = await Promise.all(Array.from({ length: 100 }, () => statusOf(verify(one))));
  t.equal(statuses.filter((status) => status === 200).length, 1);
  t.same(
    statuses.filter((status) => ![200, 401, 503].includes(status)),
    [],
  );
  const rows = await context.storage.db
    .selectFrom('nonces')
    .select('used_at')
    .where('nonce', '=', new SiweMessage(one.message).nonce)
    .execute();
  t.match(rows, [{ used_at: Date }]);
});

t.test('of concurrent login, revoke and rotate with one signature exactly one succeeds', async (t) => {
  for (let round = 0; round < 5; round++) {
    const { proof, verify, rotate, revoke } = owner();
    const { api_key } = (await verify()).json();
    const [{ id }] = (await app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${api_key}` } })).json();
    const one = await proof();
    const statuses = await Promise.all([verify(one), rotate(one), revoke(id, one)].map(statusOf));
    t.same(statuses.toSorted(), [200, 401, 401], `round ${round}`);
  }
});

t.test('concurrent rotations leave one active key, the last one', async (t) => {
  const { wallet, verify } = owner();
  const { user_id } = (await verify()).json();
  const askers = Array.from({ length: 10 }, (_, i) => walletOwner(gateway, wallet, `203.0.113.${i + 1}`));
  const proofs = (
    await Promise.all(askers.map(({ proof }) => Promise.all(Array.from({ length: 5 }, () => proof()))))
  ).flat();
  t.equal(proofs.length, 50);
  const [{ rotate } = owner()] = askers;
  // Without a free database connection the answer is 503 and the nonce stays valid.
  const untilDone = async (one: Proof): Promise<{ revoked_count: number; api_key: string; key_id: string }> => {
    const answer = await rotate(one);
    return answer.statusCode === 503 ? untilDone(one) : answer.json();
  };
  const rotations = await Promise.all(proofs.map(untilDone));
  const keys = await context.storage.db
    .selectFrom('api_keys')
    .select(['id', 'revoked_at'])
    .where('account_id', '=', user_id)
    .execute();
  t.equal(keys.length, 51);
  const active = keys.filter(({ revoked_at }) => revoked_at === null);
  t.equal(active.length, 1);
  t.ok(
    rotations.every(({ revoked_count }) => revoked_count === 1),
    'each revoked the key of the previous one',
  );
  let accepted = 0;
  for (const { api_key, key_id } of rotations) {
    const { statusCode } = await app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${api_key}` } });
    t.equal(statusCode, key_id === active[0]?.id ? 200 : 401);
    accepted += Number(statusCode === 200);
  }
  t.equal(accepted, 1);
});

t.test('challenges issued to other networks do not displace an open challenge', async (t) => {
  const { wallet, proof, verify } = owner();
  const mine = await proof();
  for (let i = 0; i < 30; i++) await walletOwner(gateway, wallet, `192.0.2.${i % 3}`).challenge();
  t.equal(await statusOf(verify(mine)), 200);
});

t.test('a challenge is the same for known and unknown wallets', async (t) => {
  const [known, unknown] = [owner(), owner()];
  await known.verify();
  const seen = await Promise.all(
    [known, unknown].map(async ({ wallet }) => {
      const answer = await app.inject({ url: `/api/wallet/challenge?address=${wallet.address}` });
      const { message, nonce, ...rest } = answer.json();
      const varying = ['date', 'x-request-id', 'ratelimit-remaining', 'ratelimit-reset'];
      return {
        status: answer.statusCode,
        headers: Object.entries(answer.headers).filter(([name]) => !varying.includes(name)),
        message: message
          .replaceAll(wallet.address, 'address')
          .replace(nonce, 'nonce')
          .replaceAll(/\d{4}-\S+Z/g, 'time'),
        nonce: nonce.length,
        rest,
      };
    }),
  );
  t.same(seen[0], seen[1]);
});

t.test('the ledger is unchanged', async (t) => {
  t.same(await checkLedger(context.storage), []);
});
