import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@eloquentpoll/services/free-port';
import t from 'tap';
import { planLogin } from '../start/login.ts';
import { planModels } from '../start/models.ts';
import { moneyEnv } from '../start/money.ts';
import { checkPostgres, checkRedis } from '../start/outside-services.ts';
import { readStartSettings } from '../start/settings.ts';

// A setting that is wrong or contradicts another is one sentence that names it, and never repeats a secret.

const refused: [env: Record<string, string>, sentence: RegExp][] = [
  [{ PORT: 'http' }, /^PORT is "http": give a whole number/],
  [{ PORT: '65536' }, /^PORT is "65536"/],
  [{ PORT: '-1' }, /^PORT/],
  [{ PORT: '80 80' }, /^PORT/],
  [{ BASE_URL: 'polls.example.com' }, /^BASE_URL must be an http or https origin/],
  [{ BASE_URL: 'https://polls.example.com/api' }, /^BASE_URL must be an http or https origin without a path/],
  [{ BASE_URL: 'ftp://polls.example.com' }, /^BASE_URL/],
  [{ BASE_URL: 'http://localhost', PORT: '0' }, /^BASE_URL and PORT=0 contradict/],
  [{ DATABASE_URL: 'mysql://u:hush@h/db' }, /^DATABASE_URL is not an address/],
  [{ DATABASE_URL: 'postgres://u:hush@h:5432/' }, /^DATABASE_URL names no database/],
  [{ DATABASE_URL: 'localhost' }, /^DATABASE_URL/],
  [{ REDIS_URL: 'http://localhost:6379' }, /^REDIS_URL is not an address/],
  [{ MODELS_BASE_URL: 'localhost:9000' }, /^MODELS_BASE_URL is not an address/],
  [{ OPENROUTER_API_KEY: 'sk or hush' }, /^OPENROUTER_API_KEY is not an API key/],
  [{ OPENAI_API_KEY: 'x' }, /^OPENAI_API_KEY is not an API key/],
  [{ MODELS_FILE: 'nowhere.json' }, /^MODELS_FILE: .*nowhere\.json/],
  [{ MODELS_FILE: 'openrouter' }, /^MODELS_FILE openrouter needs OPENROUTER_API_KEY, which is not set/],
];

for (const [env, sentence] of refused)
  t.test(
    `refused: ${Object.entries(env)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ')}`,
    async (t) => {
      const failure = await new Promise<Error>((resolve, reject) => {
        try {
          planModels(readStartSettings(env), env);
          reject(new Error('it was accepted'));
        } catch (error) {
          resolve(error instanceof Error ? error : new Error(String(error)));
        }
      });
      t.equal(failure.name, 'Failure');
      t.match(failure.message, sentence);
      t.notMatch(failure.message, /hush/, 'no secret is repeated');
      t.notMatch(failure.message, /\n.*\n/, 'and it is short');
    },
  );

t.test('what is left out has a default, and an empty value is the same as none', async (t) => {
  const none = readStartSettings({});
  t.same(readStartSettings({ PORT: '', BASE_URL: ' ', DATABASE_URL: '', MODELS_FILE: '' }), none);
  t.match(none, { port: 8080, host: '127.0.0.1', baseUrl: null, databaseUrl: null, redisUrl: null });
});

t.test('the models follow the settings', async (t) => {
  const key = 'sk-or-0123456789';
  const plan = (env: Record<string, string>) => planModels(readStartSettings(env), env);
  t.match(plan({}), { file: 'simulator', simulate: true, baseUrl: null, notice: null });
  t.match(plan({ MODELS_FILE: 'simulator' }), { file: 'simulator', simulate: true });
  t.match(plan({ OPENROUTER_API_KEY: key }), { file: 'openrouter', simulate: false, baseUrl: null });
  const baseUrl = 'http://127.0.0.1:9/v1';
  t.match(plan({ MODELS_BASE_URL: baseUrl }), { file: 'openrouter', simulate: false, baseUrl });
  t.match(plan({ MODELS_FILE: 'simulator', MODELS_BASE_URL: baseUrl }), {
    file: 'simulator',
    simulate: false,
    baseUrl,
  });
  const keys = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key };
  t.match(plan(keys), {
    file: 'simulator',
    simulate: true,
    notice: /^OPENAI_API_KEY and ANTHROPIC_API_KEY are not used\. .*: MODELS_FILE=openai,anthropic npm start$/,
  });
  t.match(plan({ ...keys, MODELS_FILE: 'simulator' }), { simulate: true, notice: null });
  t.match(plan({ ...keys, OPENROUTER_API_KEY: key }), { file: 'openrouter', simulate: false, notice: null });
  t.match(plan({ ...keys, MODELS_FILE: 'openai,anthropic' }), {
    file: 'openai,anthropic',
    simulate: false,
    summary: '7 from openai,anthropic',
    notice: null,
  });
  t.throws(
    () => plan({ MODELS_FILE: 'azure', AZURE_OPENAI_API_KEY: key }),
    /needs AZURE_OPENAI_RESOURCE, which is not set/,
  );
  const unused = plan({ OPENAI_API_KEY: key });
  t.match(unused, { simulate: true, notice: /^OPENAI_API_KEY is not used: .*MODELS_FILE/ });
  const broken = join(t.testdir(), 'roster.json');
  writeFileSync(broken, '{"providers": {,}');
  t.throws(() => plan({ MODELS_FILE: broken }), /^MODELS_FILE: .*JSON/s);
});

t.test("the user's own servers are tried before anything relies on them", async (t) => {
  const port = await freePort();
  const database = `postgres://owner:hush@127.0.0.1:${port}/db`;
  await t.rejects(checkPostgres(database), {
    message: `DATABASE_URL: nothing usable answers at 127.0.0.1:${port} (ECONNREFUSED). Start it, mend the address, or leave DATABASE_URL out.`,
  });
  await t.rejects(checkRedis(`redis://:hush@127.0.0.1:${port}`), {
    message: `REDIS_URL: nothing usable answers at 127.0.0.1:${port} (ECONNREFUSED). Start it, mend the address, or leave REDIS_URL out.`,
  });
});

t.test('the local login asks for no password: it is for a product that only this machine reaches', (t) => {
  const isLocal = (env: Record<string, string>) => planLogin(readStartSettings(env), env).local;
  for (const env of [{}, { HOST: 'localhost' }, { HOST: '::1' }, { HOST: '127.0.0.2', BASE_URL: 'http://[::1]:8080' }])
    t.ok(isLocal(env), JSON.stringify(env));
  for (const env of [{ HOST: '0.0.0.0' }, { HOST: '::' }, { BASE_URL: 'https://polls.example' }, { OIDC_ISSUER: 'x' }])
    t.notOk(isLocal(env), JSON.stringify(env));
  t.end();
});

t.test('play money is for simulated models on this machine, and gives way to any setting of its kind', async (t) => {
  const url = 'http://127.0.0.1:4000';
  const ready = { url, play_money: { chain_id: 84_532, token: '0xaa', pay_to: '0xbb' } };
  const money = (env: Record<string, string>, said: object = ready) =>
    moneyEnv(readStartSettings(env), env, { ...said });
  const coins = { CHAIN_ID: '84532', ETH_RPC_URL: `${url}/chain`, X402_ASSET: '0xaa', X402_PAY_TO: '0xbb' };
  const cards = { STRIPE_API_BASE: url, STRIPE_SECRET_KEY: /^sk_test_/, STRIPE_WEBHOOK_SECRETS: /^whsec_/ };
  t.match(money({}), { ...coins, ...cards });
  t.match(money({ BASE_URL: 'http://localhost:8080', X402_PAY_TO: ' ' }), { ...coins, ...cards });
  t.same(money({ BASE_URL: 'https://polls.example' }), {});
  t.same(money({ HOST: '0.0.0.0' }), {}, 'other machines could make it, too');
  t.same(money({ NODE_ENV: 'production' }), {});
  t.same(money({ DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/db' }), {}, 'it would stay there for real models');
  t.same(money({}, { url }), {}, 'a simulator that has none');
  for (const name of ['X402_PAY_TO', 'X402_FACILITATOR_KEY', 'ETH_RPC_URL', 'CHAIN_ID'])
    t.notOk('X402_PAY_TO' in money({ [name]: 'x' }), name);
  t.notOk('STRIPE_API_BASE' in money({ STRIPE_SECRET_KEY: 'x' }));
});
