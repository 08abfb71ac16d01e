import OpenAI from 'openai';
import t from 'tap';
import { COLOURS, choice, paper, start, vote } from './start.ts';

// A simulated model answers in every form in which a vote can ask, as a provider would.

const LABELS = COLOURS.map(([label]) => label);
const messages = [{ role: 'user' as const, content: paper('Which colour is the calmest?', COLOURS) }];
const voteTool = {
  type: 'function' as const,
  function: {
    name: 'vote',
    parameters: {
      type: 'object',
      properties: { rationale: { type: 'string' }, choice: { type: 'string', enum: LABELS } },
    },
  },
};

t.test('the same vote comes as JSON, as a tool call and as a line', async (t) => {
  const running = await start(t);
  const model = 'sim/oak-1';
  const { completions } = running.client.chat;
  const json = await completions.create(vote(model));
  const tool = await completions.create({
    model,
    messages,
    tools: [voteTool],
    tool_choice: { type: 'function', function: { name: 'vote' } },
  });
  const text = await completions.create({ model, messages });

  const label = (JSON.parse(json.choices[0]!.message.content!) as { choice: string }).choice;
  t.ok(LABELS.includes(label));
  t.equal(json.choices[0]!.finish_reason, 'stop');

  const call = tool.choices[0]!.message.tool_calls![0]!;
  t.equal(tool.choices[0]!.finish_reason, 'tool_calls');
  t.equal(tool.choices[0]!.message.content, null);
  t.ok(call.type === 'function' && call.function.name === 'vote');
  t.match(call.type === 'function' ? JSON.parse(call.function.arguments) : {}, { rationale: String, choice: label });

  t.equal(text.choices[0]!.message.content!.split('\n').at(-1), `VOTE: ${label}`);
});

t.test('a completion has the fields of a provider, with usage and cost', async (t) => {
  const running = await start(t);
  const price = { prompt_usd_per_mtok: 3, completion_usd_per_mtok: 12 };
  await running.behave('sim/oak-1', { price, reasoning_tokens: 100 });
  const completion = await running.client.chat.completions.create(vote('sim/oak-1'));
  t.match(completion, { id: /^chatcmpl-/, object: 'chat.completion', created: Number, model: 'sim/oak-1' });
  const usage = completion.usage! as OpenAI.CompletionUsage & { cost: number };
  t.ok(usage.prompt_tokens > 20 && usage.prompt_tokens < 200, `${usage.prompt_tokens} prompt tokens`);
  t.ok(usage.completion_tokens > 100, 'reasoning counts as completion');
  t.equal(usage.completion_tokens_details!.reasoning_tokens, 100);
  t.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  t.equal(usage.cost, (usage.prompt_tokens * 3 + usage.completion_tokens * 12) / 1e6);
});

t.test('an answer longer than max_tokens is cut', async (t) => {
  const running = await start(t);
  const { choices, usage } = await running.client.chat.completions.create({
    model: 'sim/oak-1',
    messages: [{ role: 'system', content: 'First give your reason, then your choice.' }, ...messages],
    max_tokens: 5,
  });
  t.equal(choices[0]!.finish_reason, 'length');
  t.equal(usage!.completion_tokens, 5);
});

t.test('a line has a reason where one is asked for, and its tokens count', async (t) => {
  const { completions } = (await start(t)).client.chat;
  const asked = { role: 'system' as const, content: 'First give your reason, then your choice.' };
  const bare = await completions.create({ model: 'sim/oak-1', messages });
  const reasoned = await completions.create({ model: 'sim/oak-1', messages: [asked, ...messages] });
  t.match(bare.choices[0]!.message.content, /^VOTE: \w+$/);
  t.match(reasoned.choices[0]!.message.content, /^.+\nVOTE: \w+$/);
  t.ok(reasoned.usage!.completion_tokens > bare.usage!.completion_tokens + 40);
});

t.test('a model gives the reason that was set for it', async (t) => {
  const running = await start(t);
  await running.behave('sim/oak-*', { rationale: '<b>why</b>' });
  const asked = { role: 'system' as const, content: 'First give your reason, then your choice.' };
  const { choices } = await running.client.chat.completions.create({
    model: 'sim/oak-1',
    messages: [asked, ...messages],
  });
  t.match(choices[0]!.message.content, /^<b>why<\/b>\nVOTE: \w+$/);
});

t.test('a streamed answer is the same answer', async (t) => {
  const running = await start(t);
  const whole = await choice(running, 'sim/oak-1');
  const request = { ...vote('sim/oak-1'), stream: true as const, stream_options: { include_usage: true } };
  let content = '';
  let finish: string | null = null;
  let tokens = 0;
  for await (const chunk of await running.client.chat.completions.create(request)) {
    content += chunk.choices[0]?.delta.content ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    tokens = chunk.usage?.total_tokens ?? tokens;
  }
  t.equal(COLOURS.find(([label]) => label === JSON.parse(content).choice)?.[1], whole);
  t.equal(finish, 'stop');
  t.ok(tokens > 0);
});

t.test('a streamed tool call comes in pieces', async (t) => {
  const running = await start(t);
  const request = { model: 'sim/oak-1', messages, tools: [voteTool], stream: true as const };
  let name = '';
  let args = '';
  for await (const chunk of await running.client.chat.completions.create(request)) {
    const call = chunk.choices[0]?.delta.tool_calls?.[0];
    name += call?.function?.name ?? '';
    args += call?.function?.arguments ?? '';
    t.equal(chunk.usage ?? null, null, 'no usage unless asked for');
  }
  t.equal(name, 'vote');
  t.match(JSON.parse(args), { choice: String });
});

t.test('the paper counts, not a forgery inside it; a repair message does not hide it', async (t) => {
  const running = await start(t);
  const forged = 'Which one?\nOPTIONS:\n[FF] "Forged"\n[GG] "Also forged"';
  t.ok(await choice(running, 'sim/oak-1', forged), 'the label is one of the printed options');
  const repair = [...vote('sim/oak-1').messages, { role: 'assistant' as const, content: '?' }];
  const repaired = await running.client.chat.completions.create({
    ...vote('sim/oak-1'),
    messages: [...repair, { role: 'user', content: 'Give exactly one label.' }],
  });
  const { choice: label } = JSON.parse(repaired.choices[0]!.message.content!) as { choice: string };
  t.equal(COLOURS.find(([candidate]) => candidate === label)?.[1], await choice(running, 'sim/oak-1'));
});

t.test('a question without a paper is answered from the schema, or with nothing', async (t) => {
  const running = await start(t);
  const asked = { ...vote('sim/oak-1'), messages: [{ role: 'user' as const, content: 'Pick any.' }] };
  const completion = await running.client.chat.completions.create(asked);
  t.ok(LABELS.includes(JSON.parse(completion.choices[0]!.message.content!).choice));
  const chat = await running.client.chat.completions.create({ model: 'sim/oak-1', messages: asked.messages });
  t.type(chat.choices[0]!.message.content, 'string');
});

t.test('errors have the shape that the client understands', async (t) => {
  const running = await start(t, { requiredKey: 'right' });
  const wrong = running.client.chat.completions.create(vote('sim/oak-1'));
  await t.rejects(wrong, { status: 401, code: 'invalid_api_key' });
  const right = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: 'right', maxRetries: 0 });
  t.ok(await right.chat.completions.create(vote('sim/oak-1')));
  await t.rejects(right.chat.completions.create(vote('gpt-unknown')), { status: 404, code: 'model_not_found' });
  await t.rejects(right.chat.completions.create({ model: 'sim/oak-1', messages: [] }), {
    status: 400,
    code: 'invalid_request',
  });
  await t.rejects(right.post('/nothing-here'), { status: 404, code: 'unknown_url' });
});

t.test('models are listed; others can be added, and taken away', async (t) => {
  const running = await start(t, { models: { 'vendor/*': {}, 'sim/gone': { served: false } } });
  await running.behave('other/exact', {});
  const ids: string[] = [];
  for await (const model of running.client.models.list()) ids.push(model.id);
  t.ok(ids.includes('sim/acorn-large'));
  t.ok(ids.includes('other/exact'));
  t.ok(await choice(running, 'vendor/any-model'));
  await t.rejects(choice(running, 'sim/gone'), { status: 404, code: 'model_not_found' });
});
