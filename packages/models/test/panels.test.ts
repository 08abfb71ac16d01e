import t from 'tap';
import { loadPanels, RosterFileError } from '../src/panels.ts';
import { FIVE, modelEntry, panelJson, rosterFile } from './test-panels.ts';

type Json = Record<string, unknown>;

for (const file of ['openrouter', 'simulator']) {
  t.test(
    `the built-in ${file} panels hold what their presets promise [§2.1-preset-broad, §2.1-preset-fast, §2.1-preset-strong]`,
    async (t) => {
      const panels = loadPanels({ file });
      const families = (name: 'broad' | 'strong' | 'fast' | 'free' | 'free_search') =>
        new Set(panels.panel(name).models.map((model) => model.family)).size;
      t.equal(panels.panel('broad').models.length, 9);
      t.ok(families('broad') >= 8, 'broad asks at least eight families');
      t.equal(panels.panel('strong').models.length, 7);
      t.equal(panels.panel('fast').models.length, 5);
      t.ok(families('strong') >= 5 && families('fast') >= 5 && families('free') >= 4 && families('free_search') >= 4);
      for (const name of ['free', 'free_search'] as const)
        t.ok(
          panels.panel(name).models.every((model) => model.openWeight),
          `${name} is open-weight`,
        );
      t.ok(
        panels.panel('free_search').models.every((model) => model.search !== null),
        'search models can search',
      );
      for (const name of ['broad', 'strong', 'fast', 'free', 'free_search'] as const)
        t.match(panels.panel(name).why, /^.{40,}$/, `${name} says why it has its models`);
      t.ok(panels.models().every((model) => model.price.input > 0n && model.price.output > 0n));
    },
  );
}

t.test('simulated models are marked by their ids [§A6-simulated-marked]', async (t) => {
  t.equal(loadPanels({ file: 'simulator' }).simulated, true);
  t.equal(loadPanels({ file: 'openrouter' }).simulated, false);
  t.ok(
    loadPanels({ file: 'simulator' })
      .models()
      .every((model) => model.id.startsWith('sim/')),
  );
});

t.test('a base URL replaces that of every provider', async (t) => {
  const panels = loadPanels({ file: 'simulator', baseUrl: 'http://127.0.0.1:8123/v1/' });
  t.same(
    panels.providers().map((provider) => provider.baseUrl),
    ['http://127.0.0.1:8123/v1'],
  );
  t.throws(() => loadPanels({ file: 'simulator', baseUrl: 'simulator:8123' }), /http:\/\/127\.0\.0\.1/);
});

t.test('a provider that is asked in clear text is refused where https is wanted', async (t) => {
  const load = (base_url: string, more: object = {}) => {
    const file = panelJson([modelEntry('t/ash-1')]);
    for (const provider of Object.values(file.providers as Json)) Object.assign(provider as Json, { base_url });
    return loadPanels({ file: rosterFile(t, file), httpsOnly: true, ...more });
  };
  t.throws(() => load('http://models.example/v1'), {
    name: 'RosterFileError',
    message: /providers\.\w+\.base_url: would send prompts .* in clear text/,
  });
  for (const address of ['https://models.example/v1', 'http://127.0.0.1:1/v1', 'http://localhost:1/v1'])
    t.ok(load(address), address);
  t.ok(load('http://models.example/v1', { httpsOnly: false }));
  t.ok(load('http://models.example/v1', { baseUrl: 'https://other.example/v1' }), 'the address is not used');
  t.ok(loadPanels({ file: 'simulator', httpsOnly: true }));
});

t.test('prices are read by string arithmetic, as text or number', async (t) => {
  const entry = modelEntry('t/ash-1', { price: { input: '0.075', output: 0.1, call: '0.000001' } });
  const { price } = loadPanels({ file: rosterFile(t, panelJson([entry])) }).model('t/ash-1')!;
  t.same(price, { input: 75_000n, output: 100_000n, call: 1n });
});

/** Each fault, the place it must name and words of the way out. */
const faults: [name: string, spoil: (file: Json) => void, path: string, words: RegExp][] = [
  [
    'an unknown field [§I3-panel-unknown-field]',
    (f) => Object.assign(modelAt(f, 0), { famly: 'x' }),
    'models[0] (t/ash-1).famly',
    /Did you mean "family"/,
  ],
  [
    'an unknown field at the top [§I3-panel-unknown-field]',
    (f) => Object.assign(f, { comment: 1 }),
    'comment',
    /known here: providers, models, presets/,
  ],
  [
    'an unknown field of a preset [§I3-panel-unknown-field]',
    (f) => Object.assign(preset(f, 'fast'), { model: [] }),
    'presets.fast.model',
    /Did you mean "models"/,
  ],
  [
    'an unknown preset [§I3-panel-unknown-field]',
    (f) => Object.assign(presets(f), { brod: {} }),
    'presets.brod',
    /Did you mean "broad"/,
  ],
  [
    'a duplicate id [§I3-panel-duplicate-id]',
    (f) => models(f).push(modelEntry('t/ash-1')),
    'models[5].id',
    /"t\/ash-1" is already the id/,
  ],
  [
    'a model without a price [§I3-panel-no-price]',
    (f) => delete modelAt(f, 1).price,
    'models[1] (t/bay-1).price',
    /cannot be billed/,
  ],
  [
    'a price without output [§I3-panel-no-price]',
    (f) => Object.assign(modelAt(f, 1), { price: { input: '1' } }),
    'models[1] (t/bay-1).price.output',
    /plain decimal/,
  ],
  [
    'a price that is no decimal',
    (f) => Object.assign(modelAt(f, 1), { price: { input: '1e-3', output: '1' } }),
    'models[1] (t/bay-1).price.input',
    /"1e-3"/,
  ],
  [
    'a price with more than six places',
    (f) => Object.assign(modelAt(f, 1), { price: { input: '0.0000001', output: 1 } }),
    'models[1] (t/bay-1).price.input',
    /at most six places/,
  ],
  [
    'a negative price',
    (f) => Object.assign(modelAt(f, 1), { price: { input: -1, output: 1 } }),
    'models[1] (t/bay-1).price.input',
    /is -1/,
  ],
  [
    'an empty preset [§I3-panel-empty-preset]',
    (f) => Object.assign(preset(f, 'strong'), { models: [] }),
    'presets.strong.models',
    /is empty/,
  ],
  ['a missing preset [§I3-panel-empty-preset]', (f) => delete presets(f).free, 'presets.free', /is missing/],
  [
    'an unknown provider',
    (f) => Object.assign(modelAt(f, 2), { provider: 'on' }),
    'models[2] (t/cob-1).provider',
    /Did you mean "one"/,
  ],
  ['no provider at all', (f) => Object.assign(f, { providers: {} }), 'providers', /at least one provider/],
  [
    'a model twice in a preset',
    (f) => Object.assign(preset(f, 'broad'), { models: [...FIVE, 't/ash-1'] }),
    'presets.broad.models[5]',
    /votes once/,
  ],
  [
    'a preset with an unknown model',
    (f) => Object.assign(preset(f, 'broad'), { models: [...FIVE, 't/ahs-1'] }),
    'presets.broad.models[5]',
    /Did you mean "t\/ash-1"/,
  ],
  [
    'a free panel with closed weights',
    (f) => Object.assign(modelAt(f, 3), { open_weight: false }),
    'presets.free.models',
    /"t\/dew-1" is not open-weight/,
  ],
  [
    'broad with four families',
    (f) => Object.assign(preset(f, 'broad'), { models: FIVE.slice(1) }),
    'presets.broad.models',
    /needs at least 5/,
  ],
  [
    'simulated and real models together [§A6-simulated-never-mixed]',
    (f) => mixSimulated(f),
    'models',
    /mixes simulated and real/,
  ],
  [
    'a forced tool on a reasoning model',
    (f) => Object.assign(modelAt(f, 0), { answer: 'tool', reasoning: 'low' }),
    'models[0] (t/ash-1).answer',
    /drops its reasoning/,
  ],
  [
    'p90 below p50',
    (f) => Object.assign(modelAt(f, 0), { p90_ms: 5 }),
    'models[0] (t/ash-1).p90_ms',
    /at least the median/,
  ],
  [
    'a secret in a header',
    (f) => Object.assign(providerOf(f), { headers: { Authorization: 'Bearer x' } }),
    'providers.one.headers.Authorization',
    /api_key_env/,
  ],
  [
    'an unknown dialect',
    (f) => Object.assign(providerOf(f), { dialect: 'antropic' }),
    'providers.one.dialect',
    /Did you mean "anthropic"/,
  ],
  [
    'a dialect of no vendor',
    (f) => Object.assign(providerOf(f), { dialect: 7 }),
    'providers.one.dialect',
    /Write one of "compatible", "openai"/,
  ],
  [
    'a form of answer that the vendor does not keep to',
    (f) => Object.assign(providerOf(f), { dialect: 'deepseek' }),
    'models[0] (t/ash-1).answer',
    /Write one of "json_object", "line"/,
  ],
  [
    'a seed where none is taken',
    (f) => Object.assign(speaking(f, 'gemini'), { seed: true }),
    'models[1] (t/bay-1).seed',
    /Write false/,
  ],
  [
    'an effort that the vendor does not have',
    (f) => Object.assign(speaking(f, 'mistral'), { reasoning: 'low' }),
    'models[1] (t/bay-1).reasoning',
    /Write one of "none", "off", "always"/,
  ],
  [
    'a user field of no vendor',
    (f) => Object.assign(providerOf(f), { user_field: 'metadata' }),
    'providers.one.user_field',
    /"metadata\.user_id", "none"/,
  ],
  [
    'a panel of one family, said openly',
    (f) => Object.assign(preset(f, 'broad'), { min_families: 1 }),
    'presets.broad.min_families',
    /whole number from 2/,
  ],
  [
    'no broad panel, said openly',
    (f) => Object.assign(presets(f), { broad: null }),
    'presets.broad',
    /Write an object/,
  ],
  [
    'a key instead of its variable',
    (f) => Object.assign(providerOf(f), { api_key_env: 'sk-or-v1-abc' }),
    'providers.one.api_key_env',
    /never the key itself/,
  ],
  [
    'a base URL that is none',
    (f) => Object.assign(providerOf(f), { base_url: 'ftp://x' }),
    'providers.one.base_url',
    /http or https/,
  ],
  [
    'a fee of more than a half',
    (f) => Object.assign(providerOf(f), { fee_share: '5.5' }),
    'providers.one.fee_share',
    /share of at most a half/,
  ],
  [
    'extra body that takes over the vote',
    (f) => Object.assign(modelAt(f, 0), { extra_body: { messages: [] } }),
    'models[0] (t/ash-1).extra_body.messages',
    /written by the vote/,
  ],
  [
    'a timeout of no use',
    (f) => Object.assign(preset(f, 'fast'), { timeouts: { total_ms: 0 } }),
    'presets.fast.timeouts.total_ms',
    /whole number from 10/,
  ],
  [
    'an order that there is not',
    (f) => Object.assign(preset(f, 'broad'), { order: 'cheapest first' }),
    'presets.broad.order',
    /"cheapest", "shuffled"/,
  ],
  [
    'an unbounded answer',
    (f) => delete modelAt(f, 0).max_output_tokens,
    'models[0] (t/ash-1).max_output_tokens',
    /is missing/,
  ],
];

for (const [name, spoil, path, words] of faults) {
  t.test(`refused at start: ${name}`, async (t) => {
    const content = structuredClone(panelJson());
    spoil(content);
    const error = refusal(rosterFile(t, content));
    const problem = error.problems.find((one) => one.path === path);
    t.ok(problem, `names ${path}: ${error.message}`);
    t.match(`${problem?.problem}. ${problem?.wayOut}`, words);
    t.match(error.message, 'rosters.json');
  });
}

t.test('all problems of a file are listed at once', async (t) => {
  const content = panelJson();
  delete modelAt(content, 0).price;
  Object.assign(modelAt(content, 1), { colour: 'red' });
  t.equal(refusal(rosterFile(t, content)).problems.length, 2);
});

t.test('a file that cannot be read, or is no JSON, is one clear error', async (t) => {
  t.match(refusal('/nowhere/panels.json').message, /cannot be read \(ENOENT\)/);
  t.match(refusal(rosterFile(t, '{ "models": [,] }')).message, /is not JSON/);
  for (const content of ['[]', 'null', '7', '""'])
    t.match(refusal(rosterFile(t, content)).message, /\(file\): is .*Write an object with providers, models, presets/);
});

function refusal(file: string): RosterFileError {
  try {
    loadPanels({ file });
  } catch (error) {
    if (error instanceof RosterFileError) return error;
    throw error;
  }
  throw new Error('the file was accepted');
}

function models(file: Json): Json[] {
  return file.models as Json[];
}

function modelAt(file: Json, index: number): Json {
  return models(file)[index]!;
}

function presets(file: Json): Json {
  return file.presets as Json;
}

function preset(file: Json, name: string): Json {
  return presets(file)[name] as Json;
}

/** The second model, at a provider of this dialect. */
function speaking(file: Json, dialect: string): Json {
  Object.assign(providerOf(file), { dialect });
  return modelAt(file, 1);
}

function providerOf(file: Json): Json {
  return (file.providers as Json).one as Json;
}

function mixSimulated(file: Json): void {
  models(file).push(modelEntry('sim/fir-1'));
  Object.assign(preset(file, 'broad'), { models: [...FIVE, 'sim/fir-1'] });
}
