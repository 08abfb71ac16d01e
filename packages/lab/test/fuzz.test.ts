import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { seed } from '@eloquentpoll/testkit/seed';
import t from 'tap';
import { judgeOf } from '../src/fuzz/judge-answer.ts';
import { corpusOf } from '../src/fuzz/memory/corpus.ts';
import { runMemory } from '../src/fuzz/memory/run-memory.ts';
import type { Description } from '../src/fuzz/operations.ts';
import { runFuzz } from '../src/fuzz/run-fuzz.ts';
import { secretWatch } from '../src/fuzz/secrets.ts';
import type { FuzzAnswer } from '../src/fuzz/send-request.ts';

// slow: 4 s

const runs = 4;

t.test(
  `[§I2-errors-leak-nothing, §A6-unknown-fields-ignored] hostile requests to all (TEST_SEED=${seed})`,
  async (t) => {
    const { url, prefix } = testRedis(t);
    const databaseUrl = await testDatabase(t);
    const report = await runFuzz({ databaseUrl, redisUrl: url, redisPrefix: prefix, seed, runs });
    t.same(report.findings, []);
    t.ok(report.operations.length > 80 && report.operations.every(({ inputs }) => inputs >= runs));
  },
);

t.test(`sequences that use what answers gave find nothing wrong (TEST_SEED=${seed})`, async (t) => {
  const { url, prefix } = testRedis(t);
  const databaseUrl = await testDatabase(t);
  const known = await readFile(join(root, 'docs/proofs/fuzz-corpus.txt'), 'utf8');
  const options = { databaseUrl, redisUrl: url, redisPrefix: prefix, seed, requests: 120, minutes: 1 };
  const report = await runMemory({ ...options, corpus: corpusOf(known) });
  t.same(report.findings, []);
  t.ok(report.requests >= 120 && report.reached > 40, `${report.reached} reached`);
});

const description: Description = {
  paths: {
    '/thing': {
      get: {
        operationId: 'getThing',
        responses: {
          200: { description: '', content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
          404: { description: '`not_here`', content: { 'application/json': { schema: { type: 'object' } } } },
        },
      },
    },
  },
  components: { schemas: { Thing: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } } },
};
const judge = judgeOf(description, secretWatch({ pepper: 'canary' }, new Set()).inAnswer);
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'x',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};
const answer = (text: string, more: Partial<FuzzAnswer> = {}): FuzzAnswer => ({
  status: 200,
  headers,
  text,
  tookMs: 1,
  ...more,
});
const sent = { method: 'GET', target: '/thing', headers: {}, body: null };

t.test('the judge lets pass what is declared', (t) => {
  t.equal(judge(sent, answer('{"n":1}')), null);
  t.equal(judge(sent, answer('{"code":"not_here","error":"x"}', { status: 404 })), null);
  t.equal(judge({ ...sent, target: '/other' }, answer('{"code":"not_found"}', { status: 404 })), null);
  t.end();
});

t.test('the judge lets a poll have the form of another path, where words declare it, and no third one', (t) => {
  const answers = (type: string) => ({
    200: { description: '', content: { 'application/json': { schema: { type } } } },
    400: { description: '`bad`', content: { 'application/json': { schema: { type: 'object' } } } },
  });
  const judged = judgeOf(
    {
      paths: {
        '/api/poll': { post: { operationId: 'createPoll', responses: answers('array') } },
        '/api/quick-poll': { post: { operationId: 'quickPoll', responses: answers('object') } },
        '/api/poll/dry-run': { post: { operationId: 'dryRun', responses: answers('string') } },
      },
      components: { schemas: {} },
    },
    () => null,
  );
  const at = (target: string, text: string) => judged({ ...sent, method: 'POST', target }, answer(text));
  for (const form of ['[]', '{}', '"x"']) t.equal(at('/api/poll', form), null, form);
  t.type(at('/api/poll', '1'), 'string');
  t.type(at('/api/quick-poll', '[]'), 'string');
  t.end();
});

t.test('the judge reads lines as every reader does', (t) => {
  const streams = (text: string) => {
    const content = { 'application/jsonl': { schema: { type: 'object' } }, 'text/event-stream': { schema: {} } };
    const responses = { 200: { description: '', content } };
    const judged = judgeOf(
      { paths: { '/lines': { get: { operationId: 'getLines', responses } } }, components: { schemas: {} } },
      () => null,
    );
    const type = text.startsWith('event') ? 'text/event-stream' : 'application/jsonl';
    return judged({ ...sent, target: '/lines' }, answer(text, { headers: { ...headers, 'content-type': type } }));
  };
  for (const end of ['\u0085', '\u2028', '\u2029']) {
    const escaped = `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`;
    t.type(streams(`event: complete\ndata: {"q":"a${end}b"}\n\n`), 'string');
    t.equal(streams(`event: complete\ndata: {"q":"a${escaped}b"}\n\n`), null);
    t.type(streams(`{"q":"a${end}b"}\n`), 'string');
    t.equal(streams(`{"q":"a${escaped}b"}\n`), null);
  }
  t.end();
});

for (const [what, wrong] of Object.entries({
  'another shape': answer('{"n":"1"}'),
  'no JSON': answer('n'),
  'another status': answer('{"n":1}', { status: 201 }),
  'another code': answer('{"code":"gone","error":"x"}', { status: 404 }),
  'a bug': answer('{"code":"internal_error","error":"x"}', { status: 500 }),
  'a stack': answer('{"code":"not_here","error":"at Object.x (file:///a.ts:1:1)"}', { status: 404 }),
  'a secret': answer('{"n":1,"pepper":"canary"}'),
  'a key': answer('{"n":1,"key":"ep_k_0123456789012345678901234567"}'),
  'no request id': answer('{"n":1}', { headers: { ...headers, 'x-request-id': undefined } }),
  'another media type': answer('{"n":1}', { headers: { ...headers, 'content-type': 'text/html' } }),
})) {
  t.test(`the judge sees ${what}`, (t) => {
    t.type(judge(sent, wrong), 'string');
    t.end();
  });
}
