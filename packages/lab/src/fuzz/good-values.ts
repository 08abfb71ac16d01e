import fc, { type Arbitrary } from 'fast-check';
import { type Description, resolved, type Schema } from './operations.ts';

// Values that a schema allows, at its limits as often as in the middle. Requirements beyond a schema (a sensible
// question, a fresh signature) are met here by member name; `{{...}}` is filled in when a request is sent.

/** In every question, so that it can be searched for where no question may appear. */
export const QUESTION_MARK = 'Qmark7f3a91';

const sentence = fc
  .tuple(fc.constantFrom('Which is best', 'Ist das gut', 'どれがいい', 'Is 1 < 2 & "so"'), fc.string({ maxLength: 30 }))
  .map(([start, rest]) => `${start} ${QUESTION_MARK} ${rest.replace(/\p{Cc}/gu, ' ')}?`);
const option = fc.oneof(
  fc.constantFrom('Yes', 'No', 'Paris', 'constructor', 'toString', '<b>x</b>', '😀', 'a,b', '[x]', '"', 'İstanbul'),
  fc.stringMatching(/^[a-z0-9]{1,12}$/),
);
const options = fc.uniqueArray(option, { minLength: 2, maxLength: 10 });

const BY_NAME: Readonly<Record<string, Arbitrary<unknown>>> = {
  question: sentence,
  q: sentence,
  prompt: sentence,
  options,
  o: options,
  poll: fc.tuple(sentence, options).map(([asked, among]) => `${asked} [${among.join(', ')}]`),
  poll_id: fc.constantFrom('{{result}}', '{{foreign-result}}', '{{failed-result}}', 'EP-2026-01-01-0123456789abcdef'),
  profile: fc.constantFrom('conservative', 'balanced', 'quick', 'other'),
  // Simulated models cost cents, and the rest of a hold is returned.
  max_cost_usd: fc.oneof(fc.constantFrom(1, 0.5, 25, 0.000001), fc.double({ min: 1e-6, max: 25, noNaN: true })),
  // The amount that `{{payment}}` pays.
  amount_usd: fc.oneof(
    fc.constantFrom(5, 5, 1, 1000),
    fc.integer({ min: 100, max: 100_000 }).map((cents) => cents / 100),
  ),
  message: fc.constant('{{message}}'),
  signature: fc.constant('{{signature}}'),
  key_id: fc.constantFrom('{{key-id}}', '{{foreign-key-id}}'),
  address: fc.constantFrom('{{address}}', '0x52908400098527886E0F7030069857D2E4169EE7'),
  session_id: fc.constantFrom('{{session}}', '{{foreign-session}}', 'ps_aaaaaaaaaaaaaaaaaaaaaaaa'),
  batch_id: fc.constantFrom('{{batch}}', '{{foreign-batch}}'),
  cursor: fc.constantFrom('{{cursor}}', 'x'),
  pattern_id: fc.constantFrom('rest-api', 'mcp', 'openapi', 'nothing-like-it'),
};

/** Members that make a body worth processing are usually included, optional or not. */
const MOSTLY = new Set(['question', 'options']);
/** Two names for the same thing contradict each other, so the alternative names are rare. */
const RARELY = new Set(['prompt', 'q', 'o', 'poll', 'profile', 'dry_run']);

export function goodValues(schema: Schema, description: Description, name = ''): Arbitrary<unknown> {
  const byName = BY_NAME[name];
  if (byName) return fc.oneof({ weight: 9, arbitrary: byName }, { weight: 1, arbitrary: byShape(schema, description) });
  return byShape(schema, description);
}

function byShape(given: Schema, description: Description): Arbitrary<unknown> {
  const schema = resolved(given, description);
  const forms = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(forms)) return fc.oneof(...forms.map((form: Schema) => goodValues(form, description)));
  if (Array.isArray(schema.enum)) {
    const values: unknown[] = schema.enum;
    return fc.constantFrom(...values);
  }
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type: string) => byShape({ ...schema, type }, description)));
  switch (schema.type) {
    case 'string':
      return texts(schema);
    case 'integer':
      return integers(schema);
    case 'number':
      return numbers(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return arrays(schema, description);
    case 'object':
      return objects(schema, description);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

const bound = (schema: Schema, name: string, otherwise: number): number => {
  const value = schema[name];
  return typeof value === 'number' ? value : otherwise;
};

function texts(schema: Schema): Arbitrary<string> {
  if (schema.format === 'uuid') return fc.uuid();
  if (schema.format === 'date-time') return moments;
  const least = bound(schema, 'minLength', 0);
  const most = bound(schema, 'maxLength', 5_000);
  const edges = fc.constantFrom(...[least, most].map((length) => 'x'.repeat(length)));
  const some = fc.string({ unit: 'grapheme-composite', minLength: least, maxLength: Math.min(most, least + 40) });
  return fc.oneof({ weight: 4, arbitrary: some }, { weight: 1, arbitrary: edges });
}

/** From one hour ago to one year ahead. */
const moments = fc
  .integer({ min: -3_600, max: 31_000_000 })
  .map((seconds) => new Date(Date.now() + seconds * 1_000).toISOString());

function integers(schema: Schema): Arbitrary<number> {
  const [min, max] = [bound(schema, 'minimum', -1_000_000), bound(schema, 'maximum', 1_000_000)];
  return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
}

function numbers(schema: Schema): Arbitrary<number> {
  const min = bound(schema, 'minimum', bound(schema, 'exclusiveMinimum', -1e6));
  const max = bound(schema, 'maximum', 1e6);
  const minExcluded = 'exclusiveMinimum' in schema;
  const exact = fc.integer({ min: Math.ceil(min * 100) + Number(minExcluded), max: Math.floor(max * 100) });
  return fc.oneof(
    fc.double({ min, max, minExcluded, noNaN: true }),
    exact.map((hundredths) => hundredths / 100),
  );
}

function arrays(schema: Schema, description: Description): Arbitrary<unknown[]> {
  const item = goodValues((schema.items ?? {}) as Schema, description);
  const lengths = { minLength: bound(schema, 'minItems', 0), maxLength: bound(schema, 'maxItems', 6) };
  if (schema.uniqueItems !== true) return fc.array(item, lengths);
  return fc.uniqueArray(item, { ...lengths, selector: (value) => JSON.stringify(value) });
}

function objects(schema: Schema, description: Description): Arbitrary<object> {
  const required = new Set((schema.required ?? []) as string[]);
  const members = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  return fc
    .tuple(
      ...members.map(([name, member]) => {
        const present = goodValues(member, description, name).map((value) => [name, value] as const);
        if (required.has(name)) return present;
        const freq = MOSTLY.has(name) ? 9 : RARELY.has(name) ? 0.1 : 1;
        return fc.oneof(
          { weight: Math.max(1, Math.round(freq * 10)), arbitrary: present },
          { weight: 10, arbitrary: fc.constant(null) },
        );
      }),
    )
    .map((entries) => Object.fromEntries(entries.filter((entry) => entry !== null)));
}
