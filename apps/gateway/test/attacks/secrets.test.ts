import { randomBytes } from 'node:crypto';
import { openStorage } from '@eloquentpoll/storage';
import { ownerUrl } from '@eloquentpoll/testkit/database';
import t from 'tap';
import { newApiKey } from '../../src/accounts/keys/api-key.ts';
import { build, PEPPER } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { NO_LOGIN_LIMIT, walletOwner } from '../fixtures/wallet-owner.ts';

// Canaries are sent to every entry point; then every log line and every value in the database is searched for them.

const canary = (name: string): string => `${name}${randomBytes(8).toString('hex')}`;

t.test('a stolen log or database contains no secret that opens anything', async (t) => {
  const gateway = await build(t, { logLevel: 'info', rateLimits: NO_LOGIN_LIMIT });
  const { app, context, log, keyWith, sessionFor } = gateway;
  await standInWorker(t, context);
  const { accountId, key, bearer } = await keyWith(10);
  const session = await sessionFor(accountId);
  const secrets: Record<string, string> = {
    'an API key': key.slice(5),
    'an unknown key': newApiKey().slice(5),
    'a session cookie': session.cookie.split('=')[1]!.slice(-40),
    'a forged cookie': canary('cookie'),
    'X-Payment': canary('payment'),
    'a signature': canary('signature'),
    'the code of a login': canary('code'),
    'the state of a login': canary('state'),
    'a signature of the card processor': canary('stripe'),
    'an idempotency key in a header of a request that failed': canary('idem'),
    'a bearer of another service': canary('bearer'),
    'the pepper': PEPPER,
  };
  const question = canary('question');
  const option = canary('option');
  const order = { question: `What about ${question}?`, options: [option, 'B'] };
  const note = canary('note');

  const ask = (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}, payload?: object) =>
    app.inject({ method, url, headers, ...(payload && { payload }) });
  const answers = [
    await ask('POST', '/api/poll', bearer, order),
    await ask(
      'POST',
      '/api/poll',
      { ...bearer, 'idempotency-key': `${secrets['an idempotency key in a header of a request that failed']} ` },
      order,
    ),
    await ask('POST', '/api/polls', bearer, { ...order, options: [option, option] }),
    await ask('POST', '/api/quick-poll', {}, { q: order.question, o: order.options }),
    await ask('POST', '/api/poll/dry-run', bearer, order),
    await ask('POST', '/api/intents/match', {}, { text: order.question }),
    await ask('POST', '/api/keys', session, { label: 'x' }),
    await ask('GET', '/api/keys', { authorization: `Bearer ep_k_${secrets['an unknown key']}` }),
    await ask('GET', '/api/keys', { authorization: `Bearer ${secrets['a bearer of another service']}` }),
    await ask('GET', '/api/balance', { cookie: `ep_session=${secrets['a forged cookie']}` }),
    await ask('GET', '/api/balance', session),
    await ask('POST', '/api/deposit', { 'x-payment': secrets['X-Payment']! }, { amount_usd: 5 }),
    await ask('POST', '/api/wallet/verify', {}, { message: 'x', signature: secrets['a signature'] }),
    await ask(
      'GET',
      `/api/auth/callback?code=${secrets['the code of a login']}&state=${secrets['the state of a login']}`,
    ),
    await ask(
      'POST',
      '/api/webhooks/stripe',
      { 'content-type': 'application/json', 'stripe-signature': secrets['a signature of the card processor']! },
      {},
    ),
    await ask('GET', `/${secrets['the code of a login']}?key=${key}`),
  ];
  const { poll_id } = answers[0]!.json();
  await ask('POST', '/api/feedback', bearer, { poll_id, outcome_correct: true, notes: note });
  const owner = walletOwner(gateway);
  const proof = await owner.proof();
  const login = await owner.verify(proof);
  secrets['a signature that opened'] = proof.signature;
  secrets['the key of a new wallet'] = login.json().api_key.slice(5);
  secrets['the cookie of a wallet'] = String(login.headers['set-cookie']).split(/[=;]/)[1]!.slice(-40);
  const rotated = (await owner.rotate()).json();
  secrets['a key after a rotation'] = rotated.api_key.slice(5);
  secrets['a key made by a page'] = answers[6]!.json().key.slice(5);

  const logged = log.join('');
  t.ok(log.length >= answers.length, 'requests are logged');
  for (const [name, secret] of Object.entries({
    ...secrets,
    'a question': question,
    'an option': option,
    'a note': note,
    'who asked': accountId,
  }))
    t.notOk(logged.includes(secret), `${name} is in no log`);

  const red = '\u001b[31mred';
  await ask('GET', `/api/results/${encodeURIComponent(red)}?x=${encodeURIComponent(red)}`, {
    'x-request-id': 'a\tb-and-more',
  });
  await ask('POST', '/api/poll', bearer, { question: `${red} which is best of these?`, options: [red, 'B'] });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are looked for
  for (const line of log) t.notMatch(line.trimEnd(), /[\0-\x1f\x7f-\x9f]/, 'no line holds what a terminal would obey');

  const dump = await everyRow();
  t.ok(dump.includes(question), 'the dump is one: a poll holds its question');
  for (const [name, secret] of Object.entries(secrets))
    t.notOk(dump.includes(secret), `${name} is not in the database`);
  for (const { body, headers } of answers.slice(7)) {
    const shown = `${body}${JSON.stringify(headers)}`;
    for (const [name, secret] of Object.entries(secrets))
      if (name !== 'a key made by a page') t.notOk(shown.includes(secret), `an answer does not repeat ${name}`);
  }

  async function everyRow(): Promise<string> {
    // A dump has the tables that gateways may not read, too.
    await using owner = openStorage({
      databaseUrl: ownerUrl(context.config.database.url),
      maxConnections: 4,
      connectTimeoutMs: 30_000,
    });
    const { db } = owner;
    const tables = await db.introspection.getTables();
    const rows = await Promise.all(
      tables.map(({ name }) =>
        db
          .selectFrom(name as 'polls')
          .selectAll()
          .execute(),
      ),
    );
    // Bytes in both of the ways in which a dump writes them.
    return JSON.stringify(rows, (_, value) => {
      if (typeof value === 'bigint') return String(value);
      const isBytes = typeof value === 'object' && value !== null && value.type === 'Buffer';
      return isBytes ? [Buffer.from(value.data).toString('hex'), Buffer.from(value.data).toString('latin1')] : value;
    });
  }
});
