import { readFileSync } from 'node:fs';
import t from 'tap';
import { failureOfReply } from '../src/error-reply.ts';
import { loadPanels, loadProviders, type Model, ROSTERS, RosterFileError } from '../src/panels.ts';
import { composePrompt } from '../src/prompt.ts';
import { requestBody } from '../src/request-body.ts';
import { READY, VENDORS } from './ready-rosters.ts';
import { vendorPanels } from './vendor-panels.ts';
import { voteRequest } from './vote-request.ts';

// Every ready roster, asked through fakes that are as strict as the vendors.

const familiesOf = (models: readonly Model[]) => new Set(models.map(({ family }) => family));

t.test('OpenAI and Anthropic keys alone make a broad panel of two families, and no free polls', async (t) => {
  const panels = loadPanels({ file: 'openai,anthropic' });
  const { models } = panels.panel('broad');
  t.ok(models.length >= 6, `${models.length} models`);
  t.same([...familiesOf(models)], ['openai', 'anthropic']);
  for (const name of ['strong', 'fast'] as const) t.equal(familiesOf(panels.panel(name).models).size, 2, name);
  for (const name of ['free', 'free_search'] as const) t.same(panels.panel(name).models, [], name);
  t.same(
    panels.providers().map(({ apiKeyEnv }) => apiKeyEnv),
    ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
  );
});

t.test('six vendors together are a panel of six families with free polls', async (t) => {
  const panels = loadPanels({ file: 'mixed' });
  t.equal(familiesOf(panels.panel('broad').models).size, VENDORS.length);
  t.ok(panels.panel('free').models.every(({ openWeight }) => openWeight));
  t.ok(familiesOf(panels.panel('free').models).size >= 2);
});

for (const file of VENDORS)
  t.test(`${file} alone is no panel -> refused with the way out`, async (t) => {
    t.throws(() => loadPanels({ file }), {
      name: 'RosterFileError',
      message: /presets\.broad\.models: has 1 provider family/,
    });
    t.throws(() => loadPanels({ file }), /MODELS_FILE=openai,anthropic/);
  });

t.test('a roster twice, or one that shares models with another -> refused', async (t) => {
  for (const file of ['groq,groq', 'openrouter,anthropic']) {
    const error = t.throws(() => loadPanels({ file }), RosterFileError) as unknown as RosterFileError;
    t.match(error.problems[0]!.problem, /^has "[^"]+" twice/, file);
  }
  t.throws(() => loadPanels({ file: 'openai,anthropic,simulator' }), /mixes simulated and real models/);
});

for (const file of READY)
  t.test(`each model of ${file} votes at its vendor, with reasons and without`, async (t) => {
    const { panels, asker, rejected, fakes } = await vendorPanels(t, file);
    for (const model of panels.models()) {
      const free = model.price.output === 0n;
      for (const style of ['choice', 'reason'] as const) {
        const vote = await asker.ask(voteRequest({ modelId: model.id, style, caller: 'c-1' }));
        t.match(vote, { error: null, option: Number, calls: 1 }, `${model.id} ${style}`);
        t.equal(vote.billed_u > 0, !free, `${model.id} is billed`);
        if (style === 'reason') t.type(vote.reason, 'string');
      }
    }
    t.same(rejected, []);
    t.equal([...fakes.values()].flatMap(({ calls }) => calls).length, panels.models().length * 2);
  });

t.test('OpenRouter may give a model to no vendor that is dearer than the roster says', async (t) => {
  const panels = loadPanels({ file: 'openrouter' });
  const roster = ROSTERS.openrouter as { models: { id: string; price: { input: string; output: string } }[] };
  const prompt = composePrompt(voteRequest());
  const bodyOf = (model: Model, search: boolean, provider = panels.provider(model.provider)) =>
    requestBody({ model, provider, prompt, style: 'choice', search, repair: false });
  for (const { id, price } of roster.models)
    for (const search of [false, true])
      t.same(
        bodyOf(panels.model(id)!, search).provider,
        {
          require_parameters: true,
          data_collection: 'deny',
          max_price: { prompt: Number(price.input), completion: Number(price.output) },
        },
        id,
      );
  const model = { ...panels.models()[0]!, extraBody: { provider: { sort: 'latency', data_collection: 'allow' } } };
  t.match(bodyOf(model, false).provider, {
    require_parameters: true,
    data_collection: 'allow',
    sort: 'latency',
    max_price: Object,
  });
  t.equal(
    bodyOf(model, false, { ...panels.provider('openrouter'), dialect: 'compatible' }).provider,
    model.extraBody.provider,
  );
});

t.test('the table of docs/providers.md says what the rosters hold', async (t) => {
  const text = readFileSync(new URL('../../../docs/providers.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| (`[^|]+`) \|[^|]+\| (\d+) \| ([^|]+) \| ([^|]+) \|$/gm)];
  const documented = rows.flatMap(([, names, models, broad, free]) =>
    [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => ({ name: name!, models: Number(models), broad, free })),
  );
  t.same(documented.map(({ name }) => name).toSorted(), [...READY, ...VENDORS, 'openai,anthropic'].toSorted());
  for (const { name, models, broad, free } of documented) {
    t.equal(loadProviders(name).models.size, models, name);
    if (broad === 'with another') continue;
    const panels = loadPanels({ file: name });
    const members = panels.panel('broad').models;
    t.equal(broad, `${members.length} / ${familiesOf(members).size}`, name);
    t.equal(free, panels.panel('free').models.length > 0 ? 'yes' : 'no', name);
  }
});

t.test('each dialect votes on every rung of the ladder that it keeps to', async (t) => {
  for (const file of READY) {
    const { panels } = await vendorPanels(t, file);
    const firsts = new Map(panels.models().map((model) => [panels.provider(model.provider).dialect, model]));
    for (const [dialect, first] of firsts)
      for (const answer of panels.provider(first.provider).takes.answers) {
        if (dialect === 'groq' && answer === 'json_schema') continue;
        const asked = await vendorPanels(t, file, ({ id }) => (id === first.id ? { answer } : {}));
        t.match(await asked.asker.ask(voteRequest({ modelId: first.id })), { error: null }, `${dialect} ${answer}`);
      }
  }
});

t.test('reasoning that a vendor counts beside the completion is paid for', async (t) => {
  const { asker } = await vendorPanels(t, 'mixed');
  const grok = await asker.ask(voteRequest({ modelId: 'x-ai/grok-4.3' }));
  // 400 tokens at $1.25 and 20 + 64 at $2.50 per million.
  t.equal(grok.billed_u, 500 + 210);
  t.equal(grok.provider_cost_u, 271, 'cost_in_usd_ticks');
  const gemini = await asker.ask(voteRequest({ modelId: 'google/gemini-3.5-flash' }));
  t.equal(gemini.billed_u, 600 + 756);
  const claude = await asker.ask(voteRequest({ modelId: 'anthropic/claude-sonnet-5' }));
  t.equal(claude.billed_u, 800 + 840, 'input from the cache is counted');
});

t.test('refusals, limits, outages and short answers of each vendor become our vote errors', async (t) => {
  for (const file of READY) {
    const { panels, asker, fakes } = await vendorPanels(t, file);
    const firsts = new Map(panels.models().map((model) => [model.provider, model]));
    for (const [provider, { id, answer }] of firsts) {
      const fake = fakes.get(provider)!;
      const ask = async (...moods: Parameters<typeof fake.next>) => {
        fake.next(...moods);
        return asker.ask(voteRequest({ modelId: id }));
      };
      t.match(await ask('refusal'), { error: 'refusal', calls: 1 }, `${id} refuses`);
      t.match(await ask('rate_limited'), { error: null, calls: 2 }, `${id} after the wait it asks for`);
      t.match(await ask('overloaded'), { error: null, calls: 2 }, `${id} after an outage`);
      t.match(await ask('cut'), { error: 'malformed', calls: 1 }, `${id} cut off is not repaired`);
      t.match(await ask('no_usage'), { error: null, calls: 1, cost: { estimated_u: Number } }, `${id} counts nothing`);
      if (answer !== 'line') t.match(await ask('prose'), { error: null, calls: 2 }, `${id} is asked once more`);
    }
  }
});

const MIXED = [
  ['openai', 'openai/gpt-5.6-luna', 'OPENAI_API_KEY'],
  ['anthropic', 'anthropic/claude-haiku-4.5', 'ANTHROPIC_API_KEY'],
  ['deepseek', 'deepseek/deepseek-v4-flash', 'DEEPSEEK_API_KEY'],
  ['xai', 'x-ai/grok-4.3', 'XAI_API_KEY'],
  ['gemini', 'google/gemini-3.5-flash', 'GEMINI_API_KEY'],
  ['mistral', 'mistralai/mistral-small-2603', 'MISTRAL_API_KEY'],
] as const;

t.test('what a refusal costs, by vendor', async (t) => {
  for (const [file, modelId, costs] of [
    ['mixed', 'anthropic/claude-haiku-4.5', { estimated_u: 0, max_u: 0, fault_u: 0 }],
    // With its fee; the caller pays at most the reserve.
    ['mixed', 'x-ai/grok-4.3', { estimated_u: 50_500, max_u: 100_000, fault_u: 75_000 }],
    ['azure', 'azure/gpt-5.4', { estimated_u: 500, max_u: 50_000, fault_u: 50_000 }],
  ] as const) {
    const { panels, asker, fakes } = await vendorPanels(t, file);
    fakes.get(panels.model(modelId)!.provider)!.next('refusal');
    t.match(await asker.ask(voteRequest({ modelId })), { error: 'refusal', calls: 1, cost: costs }, modelId);
  }
});

t.test('an account without credit is not asked again and is named once, and its model rests', async (t) => {
  for (const [provider, modelId] of MIXED.slice(0, 4)) {
    const { asker, fakes, rejected } = await vendorPanels(t, 'mixed');
    const fake = fakes.get(provider)!;
    fake.next(...Array.from({ length: 9 }, () => 'spent' as const));
    for (let i = 0; i < 5; i += 1)
      t.match(await asker.ask(voteRequest({ modelId })), { error: 'provider_error', calls: 1 }, provider);
    const change = 'the credit or the limit of the account';
    t.same(rejected, [{ provider, modelId, status: 402, field: null, change }]);
    t.match(await asker.ask(voteRequest({ modelId })), { error: 'provider_error', calls: 0 }, `${provider} rests`);
  }
});

t.test('a wrong key is not tried again and is named once, and its models rest', async (t) => {
  const { asker, rejected } = await vendorPanels(t, 'mixed', () => ({}), 'another key');
  for (const [provider, modelId, key] of MIXED) {
    for (let i = 0; i < 5; i += 1)
      t.match(await asker.ask(voteRequest({ modelId })), { error: 'provider_error', calls: 1 }, provider);
    t.same(rejected.splice(0), [{ provider, modelId, status: 401, field: null, change: `the key in ${key}` }]);
    t.match(await asker.ask(voteRequest({ modelId })), { calls: 0 }, `${provider} rests`);
  }
  t.match(await asker.ask(voteRequest({ modelId: 'mistralai/mistral-large-2512' })), { calls: 1 });
  t.same(rejected, [], 'once for all models of a provider');
});

t.test('what a question may bring a vendor to repeat is taken for no empty account', async (t) => {
  const says = (status: number, message: string) =>
    failureOfReply({ status, headers: {}, text: JSON.stringify({ error: { message } }) }, ['model'], 0);
  for (const message of [
    'Invalid text: Your credit balance is too low',
    'Bad input "Incorrect API key provided"',
    'Your team should say that it has used all available credits',
  ])
    for (const status of [400, 403, 429]) t.match(says(status, message), { kind: 'status', status }, message);
  t.match(says(500, 'Your credit balance is too low'), { status: 500 });
});
