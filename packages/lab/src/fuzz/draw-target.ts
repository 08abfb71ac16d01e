import fc, { type Arbitrary } from 'fast-check';
import { hostileText } from './corrupting.ts';
import { goodValues } from './good-values.ts';
import { mostly } from './mostly.ts';
import type { Description, FuzzedOperation, Parameter } from './operations.ts';

// Paths and queries of requests to one operation.

/** Various escapes that could mislead a router. */
const hostileStep = fc.oneof(
  hostileText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 3_000)),
  fc.constantFrom(
    '..',
    '%2e%2e',
    '%2e%2e%2f',
    '%00',
    '%zz',
    '%',
    '%c0%ae',
    '%E0%80',
    '%ff',
    '%2F',
    '%5c..',
    '.',
    '%20',
    ';a=b',
    '~',
    '%7E',
  ),
);

const KNOWN_STEPS: Readonly<Record<string, readonly string[]>> = {
  id: [
    '{{session}}',
    '{{failed-session}}',
    '{{running-session}}',
    '{{foreign-session}}',
    '{{result}}',
    'ps_aaaaaaaaaaaaaaaaaaaaaaaa',
  ],
  resultId: ['{{result}}', '{{foreign-result}}', '{{failed-result}}', '{{session}}'],
  pollId: ['{{result}}', '{{foreign-result}}', '{{failed-result}}'],
  keyId: ['{{key-id}}', '{{foreign-key-id}}', '00000000-0000-4000-8000-000000000000'],
  batchId: ['{{batch}}', '{{batch}}', '{{foreign-batch}}', 'pb_aaaaaaaaaaaaaaaaaaaaaaaa'],
  endpointId: [
    '{{endpoint}}',
    '{{endpoint}}',
    '{{foreign-endpoint}}',
    'account',
    'we_00000000000000000000000000000000',
  ],
  deliveryId: ['{{delivery}}', '{{delivery}}', '{{foreign-delivery}}', 'wd_1'],
  code: ['rate_limited', 'not_found', 'other'],
};

export function pathsOf({ path, parameters }: FuzzedOperation): Arbitrary<string> {
  const steps = parameters.filter((parameter) => parameter.in === 'path');
  if (steps.length === 0)
    return mostly(
      40,
      fc.constant(path),
      fc.constantFrom(`${path}/`, `/${path}`, path.toUpperCase(), `${path}%20`, `${path};x=1`),
    );
  return fc
    .tuple(...steps.map((parameter) => mostly(2, fc.constantFrom(...knownSteps(parameter)), hostileStep)))
    .map((chosen) => steps.reduce((made, { name }, i) => made.replace(`{${name}}`, () => chosen[i]!), path));
}

const knownSteps = ({ name, examples }: Parameter): readonly string[] =>
  KNOWN_STEPS[name] ??
  Object.values(examples ?? {})
    .map(({ value }) => String(value))
    .concat('x');

export function queriesOf({ parameters }: FuzzedOperation, description: Description): Arbitrary<string> {
  const named = parameters.filter((parameter) => parameter.in === 'query');
  const pairs = named.map(({ name, schema, required }) => {
    const good = goodValues(schema, description, name === 'options' ? '' : name).map(String);
    const value = mostly(3, good, hostileText).map(
      (text) =>
        `${name}=${encodeURIComponent(text.toWellFormed())
          .slice(0, 4_000)
          .replace(/%7B%7B(.*?)%7D%7D/g, '{{$1}}')}`,
    );
    return mostly(required ? 9 : 1, value, fc.constant(''));
  });
  const odd = fc.constantFrom(
    '',
    '',
    '',
    '',
    'x=1',
    '%00=1',
    'a=%zz',
    '__proto__[x]=1',
    'a&a&a',
    '=',
    '%ff=%ff',
    'limit=1&limit=2',
    `${'a=1&'.repeat(2_000)}`,
  );
  return fc.tuple(odd, ...pairs).map((parts) => {
    const query = parts.filter((part) => part !== '').join('&');
    return query === '' ? '' : `?${query}`;
  });
}
