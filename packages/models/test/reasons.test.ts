import t, { type Test } from 'tap';
import { openAsker } from '../src/ask.ts';
import { loadPanels, promptStyle, seatsFor, typicalCostsFor } from '../src/panels.ts';
import { misbehavingServer, says, toolCall, votes } from './misbehaving-server.ts';
import { modelEntry, testPanels } from './test-panels.ts';
import { MODEL, voteRequest } from './vote-request.ts';

async function provider(t: Test, answer: 'json_schema' | 'tool' | 'line' = 'json_schema') {
  const server = await misbehavingServer(t);
  const asker = openAsker({ panels: testPanels(t, { one: server.url }, [modelEntry(MODEL, { answer })]) });
  t.teardown(() => asker[Symbol.asyncDispose]());
  return { server, asker };
}

t.test('the reason of each form of answer is read, cleaned and kept beside the vote', async (t) => {
  const wrote = 'It is\nthe \u202elargest, see https://evil.example/';
  const cleaned = 'It is the largest, see (link removed)';
  for (const answer of ['json_schema', 'tool', 'line'] as const) {
    const { server, asker } = await provider(t, answer);
    server.behave(MODEL, (call, res) => {
      const [choice] = call.labels;
      const message =
        answer === 'tool'
          ? { tool_calls: [toolCall('vote', { rationale: wrote, choice })] }
          : { content: answer === 'line' ? `${wrote}\nVOTE: ${choice}` : JSON.stringify({ rationale: wrote, choice }) };
      says(message)(call, res);
    });
    t.match(await asker.ask(voteRequest({ style: 'reason' })), { error: null, reason: cleaned }, answer);
  }
});

t.test('a model that gives no reason, or nonsense for one, still votes', async (t) => {
  const { server, asker } = await provider(t);
  for (const rationale of [undefined, 7, '', ['so']]) {
    server.behave(MODEL, (call, res) =>
      says({ content: JSON.stringify({ rationale, choice: call.labels[0] }) })(call, res),
    );
    t.match(await asker.ask(voteRequest({ style: 'reason' })), { error: null, reason: null });
  }
});

t.test('where no reason is asked for, none is kept, and not a byte of the request differs', async (t) => {
  const { server, asker } = await provider(t);
  server.behave(MODEL, votes());
  for (const style of ['rationale', 'choice'] as const) {
    const vote = await asker.ask(voteRequest({ style }));
    t.notOk('reason' in vote, style);
  }
  t.equal(promptStyle({ panel_name: 'fast', reasons: false }), 'choice');
  t.equal(promptStyle({ panel_name: 'broad' }), 'rationale');
  t.equal(promptStyle({ panel_name: 'fast', reasons: true }), 'reason');
  await asker.ask(voteRequest({ style: 'reason' }));
  const [plain, bare, reason] = server.calls.map(({ body }) => JSON.stringify(body));
  t.equal(reason, plain, 'a model that writes its reason down anyway is asked in the same words');
  t.not(bare, plain);
});

t.test('reasons are part of the worst case and of the usual cost, for models that would not write one', async (t) => {
  const panels = loadPanels({ file: 'simulator' });
  const fast = panels.panel('fast');
  const text = { question: 'Which of these is the best?', options: ['a', 'b'], search: false };
  const of = (style: 'choice' | 'reason') => ({
    typical: typicalCostsFor(fast, { ...text, style }).map(Number),
    reserved: seatsFor(fast, { ...text, style }).map(({ reserve_u }) => reserve_u),
  });
  const [bare, asked] = [of('choice'), of('reason')];
  for (const [i, { id }] of fast.models.entries()) {
    t.ok(asked.typical[i]! > bare.typical[i]!, id);
    t.ok(asked.reserved[i]! > bare.reserved[i]!, id);
    t.ok(asked.typical[i]! <= asked.reserved[i]!, id);
  }
});
