import { join } from 'node:path';
import t from 'tap';
import { judgeAnswers } from '../src/faults/releases/judge-answers.ts';
import { releaseIn } from '../src/faults/releases/release.ts';

// Answers of a release are held against its description and that of the older one.

const describing = (property: string): string => {
  const schema = { type: 'object', required: [property], properties: { [property]: { type: 'string' } } };
  const responses = { 200: { description: 'Right', content: { 'application/json': { schema } } } };
  return JSON.stringify({
    openapi: '3.1.0',
    paths: { '/api/poll': { get: { operationId: 'poll', responses } } },
    components: { schemas: {} },
  });
};

t.test('only answers that are held against a description are counted as judged', async (t) => {
  const folder = t.testdir({ old: { 'openapi.json': describing('a') }, new: { 'openapi.json': describing('b') } });
  const [from, to] = ['old', 'new'].map((name) => releaseIn(join(folder, name), name));
  const nothing = async () => {};
  const judged = await judgeAnswers({
    ...{ from: from!, to: to! },
    ...{ begin: nothing, migrate: nothing, differences: async () => [] },
  });
  const sent = { method: 'GET', path: '/api/poll', headers: {}, withinMs: 1 } as const;
  const headers = { 'x-request-id': '1', 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
  const answer = (status: number, type: string, release = to!) => {
    const response = new Response('', { status, headers: { ...headers, 'content-type': type } });
    judged.judge({ release }, sent, response, '{"b":"x"}');
  };
  answer(503, 'application/json');
  answer(200, 'application/jsonl');
  judged.judge({ release: null }, sent, new Response(''), '{}');
  t.match(judged, { count: 0, wrong: { length: 0 } });
  answer(200, 'application/json');
  t.equal(judged.count, 1);
  t.match(judged.wrong, [/of new, for old: not of the declared shape/], 'a client of the older release cannot read it');
});
