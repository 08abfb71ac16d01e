import type { JsonObject } from '@eloquentpoll/contracts';
import type { Place } from './panel-place.ts';
import type { Provider, Timeouts } from './panel-types.ts';

const ADDRESS =
  'Write an http or https address that ends before /chat/completions, such as "https://openrouter.ai/api/v1"';
const KEY_NAME = 'Write the name of an environment variable, such as "OPENROUTER_API_KEY", never the key itself';
const TIMEOUTS = ['connect_ms', 'first_byte_ms', 'idle_ms', 'total_ms'] as const;
const MAX_MS = 120_000;

/** Fields of a request that the vote writes itself; extra body fields may not replace them. */
const OWN_FIELDS = new Set(
  'model messages stream max_tokens max_completion_tokens response_format tools tool_choice temperature seed n user safety_identifier'.split(
    ' ',
  ),
);

export function checkProvider(name: string, place: Place): Provider {
  place.fields([
    ...['base_url', 'api_key_env', 'headers', 'extra_body', 'trace_headers', 'reasoning_field', 'max_tokens_field'],
    ...['user_field', 'connections', 'timeouts'],
  ]);
  const key = place.at('api_key_env');
  return {
    name,
    baseUrl: baseUrl(place.at('base_url')),
    apiKeyEnv: key.isMissing ? null : key.privateText(/^[A-Z][A-Z0-9_]{0,63}$/, KEY_NAME),
    keyRequired: !key.isMissing,
    headers: headers(place.at('headers')),
    extraBody: checkExtraBody(place.at('extra_body')),
    traceHeaders: place.at('trace_headers').flag(false),
    reasoningField: place.at('reasoning_field').oneOf(['reasoning', 'reasoning_effort'], 'reasoning_effort'),
    maxTokensField: place.at('max_tokens_field').oneOf(['max_tokens', 'max_completion_tokens'], 'max_tokens'),
    userField: place.at('user_field').isMissing ? null : place.at('user_field').oneOf(['user', 'safety_identifier']),
    connections: place.at('connections').whole(1, 1024, 128),
    timeouts: checkTimeouts(place.at('timeouts')),
  };
}

function baseUrl(place: Place): string {
  const text = place.privateText(/^\S+$/, ADDRESS);
  if (text === '') return text;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '')
    return url.href.replace(/\/+$/, '');
  place.report(url?.username ? 'carries a user name or password' : place.wrong(), ADDRESS);
  return '';
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
  place.fields(TIMEOUTS);
  for (const name of TIMEOUTS) if (!place.at(name).isMissing) result[name] = place.at(name).whole(10, MAX_MS);
  return result;
}
