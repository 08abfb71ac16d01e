import { isJsonObject } from '@eloquentpoll/contracts';
import { checkExtraBody } from './check-provider.ts';
import { closest } from './closest.ts';
import { type Dialect, dialectOf, reasoningFields } from './dialects.ts';
import type { Place } from './panel-place.ts';
import type { Model, Provider, SearchVariant } from './panel-types.ts';
import { type Price, parseUsd } from './price.ts';

const PRICE =
  'Write { "input": "0.25", "output": "1.5" }, US dollars per million tokens, from the provider\'s price list';
const MAX_MS = 120_000;
const NAME = 'Write the name the provider knows the model by, without spaces';

export function checkModel(item: Place, providers: ReadonlyMap<string, Provider>): Model {
  const id = isJsonObject(item.value) && typeof item.value.id === 'string' ? item.value.id : '';
  // The path includes the id, because models[17] alone is hard to find.
  const place = id === '' ? item : item.named(`${item.path} (${id})`);
  place.fields([
    ...[
      'id',
      'model',
      'provider',
      'family',
      'open_weight',
      'price',
      'answer',
      'reasoning',
      'temperature',
      'seed',
      'user',
    ],
    ...['max_output_tokens', 'context_tokens', 'p50_ms', 'p90_ms', 'concurrency', 'search', 'extra_body'],
  ]);
  const p50Ms = place.at('p50_ms').whole(1, MAX_MS);
  const p90Ms = place.at('p90_ms').whole(1, MAX_MS);
  if (p90Ms < p50Ms)
    place.at('p90_ms').report(`is below p50_ms ${p50Ms}`, 'The 90th percentile is at least the median');
  const providerName = provider(place.at('provider'), [...providers.keys()]);
  const by = providers.get(providerName);
  if (by) checkAgainstDialect(place, by);
  return {
    id: place.at('id').text(/^\S{1,128}$/, 'Write an id of your own, or the name the provider knows the model by'),
    name: place.at('model').isMissing ? id : place.at('model').text(/^\S{1,128}$/, NAME),
    provider: providerName,
    family: place.at('family').text(/^[a-z0-9][a-z0-9-]{0,63}$/, 'Write who trained the model, such as "anthropic"'),
    openWeight: place.at('open_weight').flag(),
    price: price(place.at('price')),
    feePpm: by?.feePpm ?? 0,
    refusalFeeU: by?.takes.refusalFeeU ?? 0,
    answer: place.at('answer').oneOf(['json_schema', 'json_object', 'tool', 'line']),
    reasoning: reasoning(place),
    temperature: place.at('temperature').flag(true),
    seed: place.at('seed').flag(false),
    user: place.at('user').flag(true),
    maxOutputTokens: place.at('max_output_tokens').whole(16, 32_000),
    contextTokens: place.at('context_tokens').isMissing ? null : place.at('context_tokens').whole(1_024, 10_000_000),
    p50Ms,
    p90Ms,
    concurrency: place.at('concurrency').whole(1, 1024, 64),
    search: search(place.at('search')),
    extraBody: checkExtraBody(place.at('extra_body')),
  };
}

function provider(place: Place, known: readonly string[]): string {
  const name = place.text(/^\S+$/, `Write one of ${known.join(', ')}`);
  if (name === '' || known.includes(name)) return name;
  const near = closest(name, known);
  const wayOut = near ? `Did you mean "${near}"?` : `Add it there, or use one of ${known.join(', ')}`;
  place.report(`"${name}" is not under "providers"`, wayOut);
  return name;
}

/** Finds what the provider would reject before the first poll. */
function checkAgainstDialect(model: Place, { dialect, takes }: Provider): void {
  const answer = model.at('answer');
  if (dialectOf('compatible').answers.some((one) => one === answer.value) && !has(takes.answers, answer.value))
    answer.report(
      `is "${String(answer.value)}", which dialect "${dialect}" does not keep to`,
      `Write one of ${takes.answers.map((one) => `"${one}"`).join(', ')}`,
    );
  if (model.at('seed').value === true && takes.seedField === null)
    model.at('seed').report(`is true, and dialect "${dialect}" takes no seed`, 'Write false, or leave it out');
  const effort = model.at('reasoning').value;
  if ((effort === 'low' || effort === 'off') && !reasoningFields(takes.reasoningField)[effort])
    model
      .at('reasoning')
      .report(`is "${effort}", which reasoning_field "${takes.reasoningField}" cannot say`, wayOutOfReasoning(takes));
}

const has = (answers: Dialect['answers'], value: unknown): boolean => answers.some((one) => one === value);

function wayOutOfReasoning({ reasoningField }: Dialect): string {
  const sayable = Object.keys(reasoningFields(reasoningField));
  return `Write one of ${['none', ...sayable, 'always'].map((one) => `"${one}"`).join(', ')}`;
}

function reasoning(model: Place): Model['reasoning'] {
  const value = model.at('reasoning').oneOf(['none', 'low', 'off', 'always'], 'none');
  if (model.at('answer').value === 'tool' && (value === 'low' || value === 'always'))
    model
      .at('answer')
      .report(
        'forces a tool call on a reasoning model, which drops its reasoning or is refused',
        'Use "json_schema" or "line"',
      );
  return value;
}

function price(place: Place): Price {
  if (place.isMissing) {
    place.report('is missing: a model without a price cannot be billed', PRICE);
    return { input: 0n, output: 0n, call: 0n };
  }
  place.fields(['input', 'output', 'call']);
  return {
    input: usd(place.at('input'), 'US dollars per million prompt tokens'),
    output: usd(place.at('output'), 'US dollars per million completion tokens'),
    call: place.at('call').isMissing ? 0n : usd(place.at('call'), 'US dollars per call'),
  };
}

function usd(place: Place, unit: string): bigint {
  const parsed = parseUsd(place.value);
  if (parsed === null)
    place.report(place.wrong(), `Write ${unit} as a plain decimal with at most six places, such as "0.075"`);
  return parsed ?? 0n;
}

function search(place: Place): SearchVariant | null {
  if (place.isMissing) return null;
  place.fields(['model', 'extra_body', 'fee', 'extra_input_tokens']);
  const model = place.at('model');
  if (model.isMissing && place.at('extra_body').isMissing)
    place.report(
      'does not say how the model searches',
      'Give "model" (another id) or "extra_body" (such as a web plugin)',
    );
  return {
    model: model.isMissing ? null : model.text(/^\S{1,128}$/, 'Write the id of the variant that searches'),
    extraBody: checkExtraBody(place.at('extra_body')),
    feeU: place.at('fee').isMissing ? 0n : usd(place.at('fee'), 'US dollars per search'),
    extraInputTokens: place.at('extra_input_tokens').whole(0, 200_000),
  };
}
