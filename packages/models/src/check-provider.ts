import type { JsonObject } from '@eloquentpoll/contracts';
import { closest } from './closest.ts';
import {
  DIALECT_NAMES,
  type Dialect,
  type DialectName,
  dialectOf,
  REASONING_FIELDS,
  type ReasoningField,
  SEED_FIELDS,
  TOKEN_FIELDS,
  USER_FIELDS,
} from './dialects.ts';
import type { Place } from './panel-place.ts';
import { type Provider, TIMEOUT_NAMES, type Timeouts } from './panel-types.ts';
import { parseUsd } from './price.ts';

const ADDRESS =
  'Write an http or https address that ends before /chat/completions or /messages, such as "https://openrouter.ai/api/v1"';
const KEY_NAME = 'Write the name of an environment variable, such as "OPENROUTER_API_KEY", never the key itself';
const MAX_MS = 120_000;

/** Request fields that are written for each vote. Extra body fields must not replace them. */
const OWN_FIELDS = new Set(
  'model messages system stream max_tokens max_completion_tokens response_format tools tool_choice temperature seed random_seed n user safety_identifier metadata output_config'.split(
    ' ',
  ),
);

/** A setting inside an address, such as `{AWS_REGION}`. */
export const ADDRESS_SETTING = /\{([A-Z][A-Z0-9_]{0,63})\}/g;

export function checkProvider(name: string, place: Place): Provider {
  place.fields([
    ...['dialect', 'base_url', 'api_key_env', 'headers', 'extra_body', 'trace_headers', 'reasoning_field'],
    ...['max_tokens_field', 'seed_field', 'user_field', 'connections', 'timeouts', 'fee_share'],
  ]);
  const dialect = checkDialect(place.at('dialect'));
  const key = place.at('api_key_env');
  return {
    name,
    dialect,
    takes: takenFields(dialectOf(dialect), place),
    baseUrl: baseUrl(place.at('base_url')),
    apiKeyEnv: key.isMissing ? null : key.privateText(/^[A-Z][A-Z0-9_]{0,63}$/, KEY_NAME),
    keyRequired: !key.isMissing,
    headers: headers(place.at('headers')),
    extraBody: checkExtraBody(place.at('extra_body')),
    feePpm: feePpm(place.at('fee_share')),
    traceHeaders: place.at('trace_headers').flag(false),
    connections: place.at('connections').whole(1, 1024, 128),
    timeouts: checkTimeouts(place.at('timeouts')),
  };
}

function checkDialect(place: Place): DialectName {
  if (place.isMissing) return 'compatible';
  const near = closest(String(place.value), DIALECT_NAMES);
  if (near === null || near === place.value) return place.oneOf(DIALECT_NAMES);
  place.report(place.wrong(), `Did you mean "${near}"?`);
  return 'compatible';
}

/** The fields that the provider accepts: the dialect's, unless the file overrides them. `none` omits the field. */
function takenFields(dialect: Dialect, place: Place): Dialect {
  const seed = place.at('seed_field').oneOf([...SEED_FIELDS, 'none'], dialect.seedField ?? 'none');
  const user = place.at('user_field').oneOf([...USER_FIELDS, 'none'], dialect.userField ?? 'none');
  return {
    ...dialect,
    maxTokensField: place.at('max_tokens_field').oneOf(TOKEN_FIELDS, dialect.maxTokensField),
    reasoningField: place
      .at('reasoning_field')
      .oneOf(Object.keys(REASONING_FIELDS) as ReasoningField[], dialect.reasoningField),
    seedField: seed === 'none' ? null : seed,
    userField: user === 'none' ? null : user,
  };
}

function baseUrl(place: Place): string {
  const text = place.privateText(/^\S+$/, ADDRESS);
  if (text === '') return text;
  const url = URL.parse(text.replace(ADDRESS_SETTING, '$1'));
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '')
    return text.replace(/\/+$/, '');
  place.report(url?.username ? 'carries a user name or password' : place.wrong(), ADDRESS);
  return '';
}

const MAX_FEE_PPM = 500_000;

function feePpm(place: Place): number {
  if (place.isMissing) return 0;
  const ppm = Number(parseUsd(place.value) ?? MAX_FEE_PPM + 1);
  if (ppm <= MAX_FEE_PPM) return ppm;
  place.report(place.wrong(), 'Write a share of at most a half as a decimal, such as "0.055" for 5.5 %');
  return 0;
}

function headers(place: Place): Record<string, string> {
  const result: Record<string, string> = {};
  if (place.isMissing) return result;
  for (const [name, value] of place.entries('header')) {
    if (/^(authorization|cookie|x-api-key|api-key)$/i.test(name))
      value.report('would put a secret into the file', 'Name the variable that holds the key in api_key_env');
    else if (!/^[A-Za-z0-9-]+$/.test(name)) value.report('is not a header name', 'Use letters, digits and hyphens');
    else result[name.toLowerCase()] = value.privateText(/^[\x20-\x7e]+$/, 'Write one line of printable ASCII');
  }
  return result;
}

export function checkExtraBody(place: Place): JsonObject {
  const fields = place.object('Write an object; its fields are merged into the request');
  for (const name of Object.keys(fields))
    if (OWN_FIELDS.has(name))
      place.at(name).report('is written by the vote itself', 'Remove it; the capabilities of the model decide it');
  return fields;
}

export function checkTimeouts(place: Place): Partial<Timeouts> {
  const result: Partial<Timeouts> = {};
  if (place.isMissing) return result;
  place.fields(TIMEOUT_NAMES);
  for (const name of TIMEOUT_NAMES) if (!place.at(name).isMissing) result[name] = place.at(name).whole(10, MAX_MS);
  return result;
}
