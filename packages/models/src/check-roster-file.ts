import { FREE_PRESETS, PRESETS, type RosterName } from '@eloquentpoll/contracts';
import { isObject, type Json } from './json.ts';
import { type Price, parseUsd } from './price.ts';
import { at, closest, Reader, RosterFileError, shown } from './roster-problems.ts';
import type { Model, Provider, Roster, RosterFile, SearchVariant, Timeouts } from './roster-types.ts';

// Turns the parsed JSON of a roster file into checked values, or refuses it with every problem it has.

const ROSTER_NAMES: readonly RosterName[] = [...PRESETS, ...FREE_PRESETS];

/** Provider families that a roster needs: `broad` promises diversity, the others at least no single voice. */
const LEAST_FAMILIES: Record<RosterName, number> = { broad: 5, strong: 3, fast: 2, free: 2, free_search: 2 };
const MOST_MODELS = 20;

/** Fields of a request that this package writes itself; extra body fields may not replace them. */
const OWN_FIELDS = [
  'model',
  'messages',
  'stream',
  'max_tokens',
  'max_completion_tokens',
  'response_format',
  'tools',
  'tool_choice',
  'temperature',
  'seed',
  'n',
];

export function checkRosterFile(file: string, json: unknown): RosterFile {
  const read = new Reader();
  const root = read.object(json, '', ['providers', 'models', 'presets']);
  const providers = new Map(
    read
      .named(root.providers, 'providers', 'provider')
      .map(([name, entry, path]) => [name, provider(read, name, entry, path)]),
  );
  const models = readModels(read, root.models, providers);
  const rosters = readRosters(read, root.presets, models);
  if (read.problems.length > 0) throw new RosterFileError(file, read.problems);
  return { providers, models, rosters };
}

function provider(read: Reader, name: string, entry: unknown, path: string): Provider {
  const fields = read.object(entry, path, [
    'base_url',
    'api_key_env',
    'headers',
    'extra_body',
    'trace_headers',
    'reasoning_field',
    'max_tokens_field',
    'connections',
    'timeouts',
  ]);
  return {
    name,
    baseUrl: baseUrl(read, fields.base_url, at(path, 'base_url')),
    apiKeyEnv:
      fields.api_key_env === undefined
        ? null
        : read.privateText(
            fields.api_key_env,
            at(path, 'api_key_env'),
            'Write the name of an environment variable, such as "OPENROUTER_API_KEY", never the key itself',
            /^[A-Z][A-Z0-9_]{0,63}$/,
          ),
    keyRequired: fields.api_key_env !== undefined,
    headers: headers(read, fields.headers, at(path, 'headers')),
    extraBody: extraBody(read, fields.extra_body, at(path, 'extra_body')),
    traceHeaders: read.flag(fields.trace_headers, at(path, 'trace_headers'), false),
    reasoningField: read.oneOf(
      fields.reasoning_field,
      at(path, 'reasoning_field'),
      ['reasoning', 'reasoning_effort'],
      'reasoning_effort',
    ),
    maxTokensField: read.oneOf(
      fields.max_tokens_field,
      at(path, 'max_tokens_field'),
      ['max_tokens', 'max_completion_tokens'],
      'max_tokens',
    ),
    connections: read.whole(fields.connections, at(path, 'connections'), 1, 1024, 128),
    timeouts: timeouts(read, fields.timeouts, at(path, 'timeouts')),
  };
}

function baseUrl(read: Reader, value: unknown, path: string): string {
  const wayOut =
    'Write an http or https address that ends before /chat/completions, such as "https://openrouter.ai/api/v1"';
  const text = read.privateText(value, path, wayOut, /^\S+$/);
  if (text === '') return text;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '')
    return url.href.replace(/\/+$/, '');
  read.report(path, url?.username ? 'carries a user name or password' : `is ${shown(value)}`, wayOut);
  return '';
}

function headers(read: Reader, value: unknown, path: string): Record<string, string> {
  const result: Record<string, string> = {};
  if (value === undefined) return result;
  for (const [name, entry, place] of read.named(value, path, 'header')) {
    if (/^(authorization|cookie|x-api-key|api-key)$/i.test(name))
      read.report(place, 'would put a secret into the file', 'Name the variable that holds the key in api_key_env');
    else if (!/^[A-Za-z0-9-]+$/.test(name))
      read.report(place, 'is not a header name', 'Use letters, digits and hyphens');
    else
      result[name.toLowerCase()] = read.privateText(
        entry,
        place,
        'Write the header as one line of printable ASCII',
        /^[\x20-\x7e]+$/,
      );
  }
  return result;
}

function extraBody(read: Reader, value: unknown, path: string): Record<string, unknown> {
  if (value === undefined) return {};
  if (!isObject(value)) {
    read.report(path, `is ${shown(value)}`, 'Write an object; its fields are merged into the request');
    return {};
  }
  for (const name of Object.keys(value))
    if (OWN_FIELDS.includes(name))
      read.report(
        at(path, name),
        'is written by the ballot itself',
        'Remove it; the capabilities of the model decide it',
      );
  return value;
}

function timeouts(read: Reader, value: unknown, path: string): Partial<Timeouts> {
  if (value === undefined) return {};
  const names = ['connect_ms', 'first_byte_ms', 'idle_ms', 'total_ms'] as const;
  const fields = read.object(value, path, names);
  const result: Partial<Timeouts> = {};
  for (const name of names)
    if (fields[name] !== undefined) result[name] = read.whole(fields[name], at(path, name), 10, 120_000);
  return result;
}

function readModels(read: Reader, value: unknown, providers: ReadonlyMap<string, Provider>): Map<string, Model> {
  const models = new Map<string, Model>();
  for (const [index, entry] of read.list(value, 'models', 'model').entries()) {
    const read_ = model(read, entry, `models[${index}]`, providers);
    if (read_.id === '') continue;
    if (models.has(read_.id))
      read.report(
        `models[${index}].id`,
        `"${read_.id}" is already the id of an earlier model`,
        'Keep one of the two entries',
      );
    else models.set(read_.id, read_);
  }
  return models;
}

function model(read: Reader, entry: unknown, place: string, providers: ReadonlyMap<string, Provider>): Model {
  const id = isObject(entry) && typeof entry.id === 'string' ? entry.id : '';
  // The id stands beside the index: nobody counts to models[17].
  const path = id === '' ? place : `${place} (${id})`;
  const fields = read.object(entry, path, [
    'id',
    'provider',
    'family',
    'open_weight',
    'price',
    'answer',
    'reasoning',
    'temperature',
    'seed',
    'max_output_tokens',
    'p50_ms',
    'p90_ms',
    'concurrency',
    'search',
    'extra_body',
  ]);
  const name = read.text(fields.provider, at(path, 'provider'), `Write one of ${[...providers.keys()].join(', ')}`);
  if (name !== '' && !providers.has(name)) {
    const near = closest(name, providers.keys());
    read.report(
      at(path, 'provider'),
      `"${name}" is not under "providers"`,
      near ? `Did you mean "${near}"?` : `Add it there, or use one of ${[...providers.keys()].join(', ')}`,
    );
  }
  const p50Ms = read.whole(fields.p50_ms, at(path, 'p50_ms'), 1, 120_000);
  const p90Ms = read.whole(fields.p90_ms, at(path, 'p90_ms'), 1, 120_000);
  if (p90Ms < p50Ms)
    read.report(at(path, 'p90_ms'), `is ${p90Ms}, below p50_ms ${p50Ms}`, 'The 90th percentile is at least the median');
  return {
    id: read.text(
      fields.id,
      at(path, 'id'),
      'Write the id the provider knows the model by, without spaces',
      /^\S{1,128}$/,
    ),
    provider: name,
    family: read.text(
      fields.family,
      at(path, 'family'),
      'Write who trained the model, such as "anthropic"',
      /^[a-z0-9][a-z0-9-]{0,63}$/,
    ),
    openWeight: read.flag(fields.open_weight, at(path, 'open_weight')),
    price: price(read, fields.price, at(path, 'price')),
    answer: read.oneOf(fields.answer, at(path, 'answer'), ['json_schema', 'tool', 'line']),
    reasoning: reasoning(read, fields, path),
    temperature: read.flag(fields.temperature, at(path, 'temperature'), true),
    seed: read.flag(fields.seed, at(path, 'seed'), false),
    maxOutputTokens: read.whole(fields.max_output_tokens, at(path, 'max_output_tokens'), 16, 32_000),
    p50Ms,
    p90Ms,
    concurrency: read.whole(fields.concurrency, at(path, 'concurrency'), 1, 1024, 64),
    search: search(read, fields.search, at(path, 'search')),
    extraBody: extraBody(read, fields.extra_body, at(path, 'extra_body')),
  };
}

function reasoning(read: Reader, fields: Json, path: string): Model['reasoning'] {
  const value = read.oneOf(fields.reasoning, at(path, 'reasoning'), ['none', 'low', 'off', 'always'], 'none');
  if (fields.answer === 'tool' && (value === 'low' || value === 'always'))
    read.report(
      at(path, 'answer'),
      'forces a tool call on a reasoning model, which drops its reasoning or is refused',
      'Use "json_schema" or "line"',
    );
  return value;
}

function price(read: Reader, value: unknown, path: string): Price {
  const wayOut =
    'Write { "input": "0.25", "output": "1.5" }, US dollars per million tokens, from the provider\'s price list';
  if (value === undefined) {
    read.report(path, 'is missing: a model without a price cannot be billed', wayOut);
    return { input: 0n, output: 0n, call: 0n };
  }
  const fields = read.object(value, path, ['input', 'output', 'call']);
  return {
    input: usd(read, fields.input, at(path, 'input'), 'US dollars per million prompt tokens'),
    output: usd(read, fields.output, at(path, 'output'), 'US dollars per million completion tokens'),
    call: fields.call === undefined ? 0n : usd(read, fields.call, at(path, 'call'), 'US dollars per call'),
  };
}

function usd(read: Reader, value: unknown, path: string, unit: string): bigint {
  const parsed = parseUsd(value);
  if (parsed !== null) return parsed;
  read.report(
    path,
    value === undefined ? 'is missing' : `is ${shown(value)}`,
    `Write ${unit} as a plain decimal with at most six places, such as "0.075"`,
  );
  return 0n;
}

function search(read: Reader, value: unknown, path: string): SearchVariant | null {
  if (value === undefined) return null;
  const fields = read.object(value, path, ['model', 'extra_body', 'fee', 'extra_input_tokens']);
  if (fields.model === undefined && fields.extra_body === undefined)
    read.report(
      path,
      'does not say how the model searches',
      'Give "model" (another id) or "extra_body" (such as a web plugin)',
    );
  return {
    model:
      fields.model === undefined
        ? null
        : read.text(fields.model, at(path, 'model'), 'Write the id of the variant that searches', /^\S{1,128}$/),
    extraBody: extraBody(read, fields.extra_body, at(path, 'extra_body')),
    feeU: fields.fee === undefined ? 0n : usd(read, fields.fee, at(path, 'fee'), 'US dollars per search'),
    extraInputTokens: read.whole(fields.extra_input_tokens, at(path, 'extra_input_tokens'), 0, 200_000),
  };
}

function readRosters(read: Reader, value: unknown, models: ReadonlyMap<string, Model>): Map<RosterName, Roster> {
  const fields = read.object(value ?? {}, 'presets', ROSTER_NAMES);
  const rosters = new Map<RosterName, Roster>();
  for (const name of ROSTER_NAMES) {
    const path = at('presets', name);
    if (fields[name] === undefined)
      read.report(
        path,
        'is missing',
        `Add it with the models of this preset; all of ${ROSTER_NAMES.join(', ')} are needed`,
      );
    else rosters.set(name, roster(read, name, fields[name], path, models));
  }
  return rosters;
}

function roster(
  read: Reader,
  name: RosterName,
  entry: unknown,
  path: string,
  models: ReadonlyMap<string, Model>,
): Roster {
  const fields = read.object(entry, path, ['models', 'timeouts']);
  const members: Model[] = [];
  for (const [index, id] of read.list(fields.models, at(path, 'models'), 'model id').entries()) {
    const place = `${at(path, 'models')}[${index}]`;
    const found = typeof id === 'string' ? models.get(id) : undefined;
    if (!found) {
      const near = closest(String(id), models.keys());
      read.report(
        place,
        `${shown(id)} is not under "models"`,
        near ? `Did you mean "${near}"?` : 'Add the model there, or remove it here',
      );
    } else if (members.includes(found))
      read.report(place, `${shown(id)} is in this preset twice`, 'A model votes once: remove one of the two');
    else members.push(found);
  }
  checkMembers(read, name, members, path);
  return { name, models: members, timeouts: timeouts(read, fields.timeouts, at(path, 'timeouts')) };
}

function checkMembers(read: Reader, name: RosterName, members: readonly Model[], path: string): void {
  const place = at(path, 'models');
  if (members.length === 0) return;
  const families = new Set(members.map((member) => member.family));
  if (members.length > MOST_MODELS) read.report(place, `has ${members.length} models`, `Keep at most ${MOST_MODELS}`);
  if (families.size < LEAST_FAMILIES[name])
    read.report(
      place,
      `has ${families.size} provider ${families.size === 1 ? 'family' : 'families'} (${[...families].join(', ')})`,
      `"${name}" needs at least ${LEAST_FAMILIES[name]}; add models of others`,
    );
  if (name === 'free' || name === 'free_search')
    for (const member of members)
      if (!member.openWeight)
        read.report(
          place,
          `"${member.id}" is not open-weight`,
          `"${name}" is asked for free polls, which use open-weight models only; replace it`,
        );
  const simulated = members.filter((member) => member.id.startsWith('sim/')).length;
  if (simulated > 0 && simulated < members.length)
    read.report(
      place,
      'mixes simulated and real models',
      'Models whose id starts with "sim/" stand in rosters of their own',
    );
}
