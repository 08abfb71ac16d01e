import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { loadProviders, ROSTERS } from '@eloquentpoll/models/panels';
import { type FakeVendor, fakeVendor, type VendorMood } from '@eloquentpoll/testkit/fakes/model-vendor';
import t, { type Test } from 'tap';
import { runProviders } from '../providers/run-providers.ts';

type Json = Record<string, unknown>;
interface RosterJson {
  providers: Record<string, Json>;
  models: Json[];
}

/** A ready roster whose providers are fakes, with changes to its models, and the settings that it needs. */
async function asked(t: Test, name: string, change: (model: Json) => Json = (model) => model) {
  const roster = structuredClone(ROSTERS[name]) as RosterJson;
  const { models } = loadProviders(name);
  const env: Record<string, string> = { AWS_REGION: 'us-east-1', AZURE_OPENAI_RESOURCE: 'ours' };
  const fakes: FakeVendor[] = [];
  for (const [provider, entry] of Object.entries(roster.providers)) {
    const names = [...models.values()].filter((model) => model.provider === provider).map((model) => model.name);
    const fake = await fakeVendor(t, String(entry.dialect), names);
    entry.base_url = fake.url;
    entry.api_key_env ??= `KEY_OF_${fakes.length}`;
    env[String(entry.api_key_env)] = fake.key;
    fakes.push(fake);
  }
  roster.models = roster.models.map(change);
  const file = join(t.testdir(), 'roster.json');
  writeFileSync(file, JSON.stringify(roster));
  const run = async (...args: string[]) => {
    const lines: string[] = [];
    const off = await runProviders(['--check', file, ...args], env, (line) => lines.push(line));
    const out = lines.join('\n');
    for (const { key } of fakes) t.notMatch(out, key, 'no key is printed');
    return { off, out };
  };
  return { run, env, fakes };
}

const NAMES = Object.keys(ROSTERS).filter((name) => name !== 'simulator');
/** Their fakes charge something else than the roster says. */
const DEARER = ['xai', 'openrouter'];

for (const name of NAMES)
  t.test(`--check ${name}: one vote per provider, and nothing is off`, async (t) => {
    const { run, fakes } = await asked(t, name);
    const { off, out } = await run();
    t.equal(off, DEARER.includes(name), out);
    if (DEARER.includes(name))
      t.match(out, /cost_differs: the provider says \$0\.000\d+, .*\n +change "price" of the model/);
    t.ok(fakes.every(({ calls }) => calls.length === 1));
    t.match(out, /(✓|✗) \S+ {2}\d\.\d s, 400 \+ \d+ tokens, \$0\.\d{6}/);
  });

for (const name of NAMES)
  t.test(`--check ${name} with a wrong key -> key_refused`, async (t) => {
    const { run, env } = await asked(t, name);
    for (const setting of Object.keys(env))
      if (setting.includes('KEY') || setting.includes('TOKEN')) env[setting] = 'wrong-key-1234567';
    const { off, out } = await run();
    t.ok(off);
    t.match(out, /key_refused: the key in \w+ is not accepted/);
    t.notMatch(out, 'wrong-key', 'not in part either');
    if (name === 'openai' || name === 'xai') t.match(out, /provided: \[key\]/);
  });

for (const name of ['openai', 'anthropic', 'gemini', 'mistral', 'xai', 'openrouter', 'azure', 'vllm', 'ollama'])
  t.test(`--check ${name} with a misspelt model -> the closest name that the provider lists`, async (t) => {
    const right = [...loadProviders(name).models.values()][0]!.name;
    const { run } = await asked(t, name, (model) => ({ ...model, model: `${String(model.model ?? model.id)}x` }));
    const { out } = await run('--all');
    t.match(out, /model_unknown: "[^"]+x" is not known; did you mean "/);
    t.ok(out.includes(`change "model": "${right}"`), out);
  });

t.test('what is off is named with the capability to change', async (t) => {
  const cases: [name: string, mood: VendorMood | null, change: Json, out: RegExp][] = [
    [
      'openai',
      null,
      { temperature: true },
      /field_rejected: "temperature" is turned away .*\n +change "temperature": false of the model/,
    ],
    [
      'anthropic',
      null,
      { extra_body: { top_logprobs: 1 } },
      /field_rejected: "top_logprobs" .*\n +change "extra_body"/,
    ],
    ['groq', null, { answer: 'json_schema', reasoning: 'off' }, /field_rejected: "reasoning_effort"/],
    ['groq', 'prose', {}, /form_not_kept: the answer does not keep to "json_schema" \(the vendor could not read it\)/],
    ['openai', 'no_usage', {}, /no_usage: the reply counts no tokens/],
    [
      'deepseek',
      'prose',
      {},
      /form_not_kept: the answer does not keep to "json_object" \(malformed\)\n +change "answer": "line"/,
    ],
    ['anthropic', 'cut', {}, /cut: the answer was cut off at \d+ tokens/],
    ['azure', 'refusal', {}, /refused: the filter refused a harmless question/],
    ['openai', 'refusal', {}, /refused: the model refused/],
    ['anthropic', 'rate_limited', {}, /rate_limited: a rate limit is reached \(429/],
    ['anthropic', 'spent', {}, /no_credit: the account has no credit, .* \(400: Your credit balance is too low/],
    ['xai', 'spent', {}, /no_credit: the account has no credit/],
    ['gemini', 'overloaded', {}, /error: the call failed \(503: The model is overloaded/],
  ];
  for (const [name, mood, change, expected] of cases) {
    const { run, fakes } = await asked(t, name, (model) => ({ ...model, ...change }));
    if (mood) fakes[0]!.next(mood);
    const { off, out } = await run();
    t.ok(off, `${name} ${mood}`);
    t.match(out, expected);
  }
});

t.test('a provider that does not answer, and one that is no provider', async (t) => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  const page = createServer((_, response) => response.end('<html>'));
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  closed.close();
  t.teardown(() => page.close());
  for (const [at, why] of [
    [port, /no_answer: http:\/\/127.0.0.1:\d+ cannot be asked: ECONNREFUSED/],
    [(page.address() as AddressInfo).port, /no_answer: .* the reply is no JSON/],
  ] as const) {
    const roster = structuredClone(ROSTERS.ollama) as RosterJson;
    Object.values(roster.providers)[0]!.base_url = `http://127.0.0.1:${at}/v1`;
    const file = join(t.testdir(), 'roster.json');
    writeFileSync(file, JSON.stringify(roster));
    const lines: string[] = [];
    t.equal(await runProviders(['--check', file], {}, (line) => lines.push(line)), true);
    t.match(lines.join('\n'), why);
  }
});

t.test('--json is the whole report, with limits and costs, and no key', async (t) => {
  const { run, fakes } = await asked(t, 'anthropic');
  fakes[0]!.next('rate_limited');
  const [report] = JSON.parse((await run('--json')).out);
  t.match(report, {
    provider: 'anthropic',
    dialect: 'anthropic',
    modelId: 'anthropic/claude-haiku-4.5',
    status: 429,
    limits: { 'retry-after': '0.05', 'anthropic-ratelimit-requests-remaining': '0' },
    findings: [{ code: 'rate_limited' }],
  });
  t.match(JSON.parse((await run('--json', '--model', 'anthropic/claude-opus-5')).out), [
    {
      modelId: 'anthropic/claude-opus-5',
      usage: { inputTokens: 400, outputTokens: 84 },
      cost: { saidU: null, countedU: 4100 },
      findings: { length: 0 },
    },
  ]);
});

t.test('without --check the rosters are listed with the settings that are there', async (t) => {
  const lines: string[] = [];
  const env = { OPENAI_API_KEY: 'canary-of-a-key', AZURE_OPENAI_RESOURCE: 'ours' };
  t.equal(await runProviders([], env, (line) => lines.push(line)), false);
  const rows = lines.join('\n');
  t.match(rows, /openai +\| 4 +\| OPENAI_API_KEY +\| +\| with another/);
  t.match(rows, /azure +\| 6 +\| AZURE_OPENAI_RESOURCE +\| AZURE_OPENAI_API_KEY +\| alone/);
  t.match(rows, /ollama +\| 5 +\| none needed/);
  t.notMatch(rows, /canary/);
  await t.rejects(
    runProviders(['--chek', 'x'], {}, () => {}),
    /Usage: npm run providers/,
  );
  await t.rejects(
    runProviders(['--check', 'nowhere'], {}, () => {}),
    /nowhere/,
  );
  await t.rejects(
    runProviders(['--check', 'openai', '--model', 'x'], {}, () => {}),
    /openai has no x; it has openai\/gpt/,
  );
});
