import { KindGuard, type TSchema } from '@sinclair/typebox';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import * as contracts from '../src/index.ts';

const named = Object.values<unknown>(contracts).filter(
  (value): value is TSchema => KindGuard.IsSchema(value) && value.$id !== undefined,
);
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false, schemas: named });
const accepts = (schema: TSchema, value: unknown) => ajv.validate({ $ref: String(schema.$id) }, value);

t.test('every named shape compiles, and every name is one shape', (t) => {
  t.equal(new Set(named.map((schema) => schema.$id)).size, named.length);
  for (const schema of named) t.type(ajv.getSchema(String(schema.$id)), 'function', String(schema.$id));
  t.end();
});

t.test('limits are what the contract says, at their edges', (t) => {
  const { PollRequest } = contracts;
  const good = { question: '0123456789', options: ['a', 'b'] };
  const options = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);
  const cases: [object, boolean][] = [
    [good, true],
    [{ options: ['a', 'b'] }, true],
    [{ ...good, question: '012345678' }, false],
    [{ ...good, question: '😀'.repeat(9) }, false],
    [{ ...good, options: options(1) }, false],
    [{ ...good, options: options(10) }, true],
    [{ ...good, options: options(11) }, false],
    [{ ...good, options: ['a', '😀'.repeat(200)] }, true],
    [{ ...good, options: ['a', 'x'.repeat(201)] }, false],
    [{ ...good, options: ['a', 'a'] }, false],
    [{ ...good, confidence_threshold: 0 }, true],
    [{ ...good, confidence_threshold: 1 }, true],
    [{ ...good, confidence_threshold: 1.0001 }, false],
    [{ ...good, max_cost_usd: 0 }, false],
    [{ ...good, max_cost_usd: 0.000001 }, true],
    [{ ...good, max_cost_usd: 25 }, true],
    [{ ...good, max_cost_usd: 25.01 }, false],
    [{ ...good, preset: 'strong' }, true],
    [{ ...good, preset: 'free' }, false],
    [{ ...good, poll_type: 'fptp' }, true],
    [{ ...good, surface: 'anything' }, true],
  ];
  for (const [value, ok] of cases) t.equal(accepts(PollRequest, value), ok, JSON.stringify(value).slice(0, 80));
  t.end();
});

t.test('a public vote and a public result have no field for cost', (t) => {
  for (const schema of [contracts.PublicVote, contracts.ResultDetail]) {
    const names = Object.keys(schema.properties).filter((name) => name !== 'max_cost_usd');
    t.notMatch(names.join(' '), /cost|usd|account|user|key/);
  }
  t.end();
});
