import t from 'tap';
import { pollFigures } from '../../src/discovery/documents/poll-figures.ts';
import { resultPage, STRANGER } from '../../src/pages/result-page.ts';
import { build } from '../fixtures/build.ts';
import { type MadeUp, madeUpResult } from '../fixtures/made-up-result.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// A poll whose panel answered in part looks so wherever it is read.

const { app, context, keyWith } = await build(t);
await standInWorker(t, context, { opinion: (seat) => (seat < 3 ? null : 0) });
const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const SENTENCE = '6 of 9 asked models answered; 3 did not (3 refused).';

t.test('three of nine models gave no vote: REST, public result, page, quick poll, MCP and A2A say so', async (t) => {
  const { bearer } = await keyWith(5);
  const post = (url: string, payload: object, more: object = {}) =>
    app.inject({ method: 'POST', url, headers: { ...bearer, ...more }, payload });

  const response = (await post('/api/poll', POLL)).json();
  t.match(response.panel, { asked: 9, heard: 6, effective_votes: null, slowest_heard_ms: 1 });
  t.equal(response.panel.vendors_heard, new Set(vendorsOf(response.votes)).size);
  t.same(
    response.panel.missing,
    response.votes
      .filter(({ success }: { success: boolean }) => !success)
      .map(({ model_id }: { model_id: string }) => ({ model_id, error: 'refusal' })),
  );
  t.match(response.verdict.text, SENTENCE);

  const result = (await app.inject({ url: `/api/results/${response.poll_id}` })).json();
  t.same(result.panel, response.panel);
  t.match(result.verdict.text, SENTENCE);
  const page = await app.inject({ url: `/result/${response.poll_id}` });
  t.match(page.body, SENTENCE);
  t.match(page.body, '6 of 9 models answered');
  t.match(page.body, `Heard: 6 models of ${response.panel.vendors_heard} vendors.`);

  const quick = (await post('/api/quick-poll', { ...POLL, theme: 'fast' })).json();
  t.match(quick.panel, { asked: 5, heard: 2, missing: { length: 3 } });

  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'poll_question', arguments: POLL } };
  const tool = (await post('/api/mcp', call, { accept: 'application/json, text/event-stream' })).body;
  t.match(tool, SENTENCE);
  const task = { message: { role: 'user', parts: [{ type: 'data', data: POLL }] } };
  t.match((await post('/api/a2a/tasks/send', task)).json().status.message.parts[0].text, SENTENCE);
});

t.test('a second reading is one line on the page, and only where it says something else', async (t) => {
  const figures = await pollFigures(context);
  const pageOf = (made: MadeUp) => {
    const result = madeUpResult(made);
    return { result, page: resultPage({ facts: { baseUrl: 'https://polls.example', figures }, result, ...NOTHING }) };
  };
  const same = pageOf({ reading: { winner: 1, differs: false } });
  t.match(same.result.reading, { winner: '308 Permanent Redirect', differs: false, likelihood: 0.2 });
  for (const { page } of [same, pageOf({})]) t.notMatch(page, 'data-reading');
  const other = pageOf({ reading: { winner: 2, differs: true }, options: ['a', 'b', '<b>c'] });
  t.match(
    other.page,
    /the votes speak for <bdi>&lt;b&gt;c<\/bdi>, an estimated 70% likely to be right\. The winner stays/,
  );
  const tie = { choices: [0, 1, 2, 0, 1, 2], unasked: 0, reason: 'roster_exhausted' } as const;
  t.match(
    pageOf({ ...tie, reading: { winner: 2, differs: true } }).page,
    /the votes lean to <bdi>307.*The poll stays a tie/,
  );
  t.match(pageOf({ ...tie, reading: { winner: null, differs: false } }).page, /the votes are still level/);
});

const NOTHING = { feedback: { total: 0, correct: 0, incorrect: 0 }, reader: STRANGER, hasReceipt: true, thanks: false };

const vendorsOf = (votes: { success: boolean; model_id: string }[]) =>
  votes.filter(({ success }) => success).map(({ model_id }) => context.panels.model(model_id)!.family);
