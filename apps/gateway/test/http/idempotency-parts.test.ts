import { createHash } from 'node:crypto';
import fc from '@eloquentpoll/testkit/fast-check';
import { type TProperties, Type } from '@sinclair/typebox';
import Fastify from 'fastify';
import t from 'tap';
import { ApiError } from '../../src/http/api-error.ts';
import { fingerprintOf } from '../../src/http/fingerprint.ts';
import { idempotencyKeys, keyHeader, keyOf, markReplayed } from '../../src/http/hooks/idempotency-key.ts';

// The parts that idempotency is made of, each alone: what is a key, what is the same request, which operations read one.

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

t.test('a fingerprint depends on what a request says and not on the order in which it says it', async (t) => {
  t.equal(fingerprintOf({ b: [2, { d: null, c: 'x' }], a: 1 }), sha256('{"a":1,"b":[2,{"c":"x","d":null}]}'));
  t.equal(fingerprintOf([3, 1, 2]), sha256('[3,1,2]'), 'the order of a list is what it says');
  t.equal(fingerprintOf(null), sha256('null'));
  const shuffled = (value: object) => Object.fromEntries(Object.entries(value).reverse());
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), (one, name, value) => {
      const other = { ...one, [name]: value };
      const same = JSON.stringify(one[name]) === JSON.stringify(value) && Object.hasOwn(one, name);
      return (
        fingerprintOf(shuffled(one)) === fingerprintOf(one) && (same || fingerprintOf(other) !== fingerprintOf(one))
      );
    }),
  );
});

t.test('a key is 1 to 255 visible characters, bare or in quotes', async (t) => {
  for (const [header, key] of [
    ['a', 'a'],
    ['"a"', 'a'],
    ['a"b', 'a"b'],
    ['"a\\"b"', 'a"b'],
    ['"a\\\\b"', 'a\\b'],
    ['"\\\\\\""', '\\"'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    ['!~', '!~'],
    ['', null],
    ['""', null],
    ['"', null],
    ['"a', null],
    ['"a\\b"', null],
    ['"a"b"', null],
    ['a b', null],
    ['"a b"', null],
    ['a, b', null],
    ['é', null],
    ['\u007f', null],
    ['x'.repeat(256), null],
  ] as const)
    t.equal(keyOf(header), key, header.slice(0, 12));
});

t.test('only operations that say so read a key, and repeat it', async (t) => {
  const app = Fastify();
  await app.register(idempotencyKeys);
  const wrongFields: (string | undefined)[] = [];
  app.setErrorHandler((error, _request, reply) => {
    wrongFields.push(
      ...(error instanceof ApiError ? (error.circumstances.issues ?? []) : []).map((one) => one.pointer),
    );
    return reply.code(400).send(error);
  });
  let asked = 0;
  const countAsked = async () => {
    asked += 1;
  };
  app.get('/reads', { config: { idempotent: true } }, async (request) => ({ key: request.idempotencyKey }));
  app.get('/ignores', async (request) => ({ key: request.idempotencyKey }));
  app.post('/refuses', { onRequest: countAsked }, async () => ({}));
  app.post('/repeats', { config: { idempotent: 'by nature' } }, async () => ({}));
  app.get('/replays', async (_request, reply) => markReplayed(reply).send({}));
  let hooked = 0;
  const count = async () => {
    hooked += 1;
  };
  app.get('/hooked', { config: { idempotent: true }, onRequest: [count, count] }, async (request) => ({
    key: request.idempotencyKey,
  }));
  const ask = (url: string, key?: string) =>
    app.inject({ url, headers: key === undefined ? {} : { 'idempotency-key': key } });

  t.same((await ask('/reads')).json(), { key: null });
  t.notOk('idempotency-key' in (await ask('/reads')).headers);
  const quoted = await ask('/reads', '"one"');
  t.same(quoted.json(), { key: 'one' });
  t.equal(quoted.headers['idempotency-key'], '"one"', 'as it was written');
  const ignored = await ask('/ignores', 'one');
  t.same(ignored.json(), { key: null });
  t.notOk('idempotency-key' in ignored.headers);
  const post = (url: string, headers = {}) => app.inject({ method: 'POST', url, headers });
  t.equal((await post('/refuses')).statusCode, 200);
  t.match((await post('/refuses', { 'idempotency-key': 'one' })).body, /not supported by POST \/refuses/);
  t.equal(asked, 2, 'what the route did before, it still does');
  t.equal((await post('/repeats', { 'idempotency-key': 'one' })).headers['idempotency-key'], 'one');
  t.same((await ask('/hooked', 'two')).json(), { key: 'two' });
  t.equal(hooked, 2, 'what the route did before, it still does');
  t.equal((await ask('/replays')).headers['idempotent-replayed'], 'true');
  const wrong = await ask('/reads', 'a b');
  t.not(wrong.statusCode, 200);
  t.match(wrong.body, /Idempotency-Key must be|invalid|validation/i);
  t.same(wrongFields, ['#/Idempotency-Key', '#/Idempotency-Key']);
  await app.close();
});

t.test('the schema of an operation names the header, and how long it remembers keys', async (t) => {
  const app = Fastify();
  await app.register(idempotencyKeys);
  const said = new Map<string, unknown>();
  app.addHook('onRoute', ({ url, schema }) => {
    said.set(url, schema?.headers);
  });
  const other = { 'x-other': Type.Optional(Type.String()) };
  const answer = async () => ({});
  const headers = (properties: TProperties) => ({ schema: { headers: Type.Object(properties) } });
  app.get('/usual', { config: { idempotent: true } }, answer);
  app.get('/more', { config: { idempotent: true }, ...headers(other) }, answer);
  app.get('/own', { config: { idempotent: true }, ...headers({ ...other, ...keyHeader('for a week') }) }, answer);
  app.get('/natural', { config: { idempotent: 'by nature' } }, answer);
  app.get('/none', answer);
  await app.ready();
  const usual = { description: /with the same key, within 24 hours, returns/ };
  t.match(said.get('/usual'), { properties: { 'idempotency-key': usual } });
  t.match(said.get('/more'), { properties: { 'x-other': {}, 'idempotency-key': usual } });
  const own = { description: /with the same key, for a week, returns/ };
  t.match(said.get('/own'), { properties: { 'x-other': {}, 'idempotency-key': own } });
  t.equal(said.get('/natural'), undefined);
  t.equal(said.get('/none'), undefined);
  await app.close();
});
