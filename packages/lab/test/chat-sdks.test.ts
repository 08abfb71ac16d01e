import type { AddressInfo } from 'node:net';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateObject, generateText, Output, streamText, type ToolSet } from 'ai';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod';
import t from 'tap';
import { z } from 'zod';
import { LABELS, type Label, TEXTS } from './chat-texts.ts';
import { wholeService } from './whole-service.ts';

// slow: 10 s

// A hundred texts, classified by the clients that people have, each in the ways that it knows. Every winner is the
// answer that the simulated models know.

const ASKED = 'How does the customer feel?';
globalThis.AI_SDK_LOG_WARNINGS = false;
const known = Object.fromEntries(
  TEXTS.flatMap(({ text, label }) => [
    [text, label],
    [`${ASKED}\n\n${text}`, label],
  ]),
);
const { app, headers } = await wholeService(t, {}, { recordedVotes: null, knownAnswers: known });
await app.listen({ host: '127.0.0.1', port: 0 });
const baseURL = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v1`;
const apiKey = headers.authorization.slice('Bearer '.length);

const model = 'eloquentpoll/broad';
/** All models vote, so that the winner is the same in each run. */
const terms = { confidence_threshold: 1 };
const feeling = z.object({ feeling: z.enum(LABELS) });
const system = { role: 'system', content: ASKED } as const;
const user = (content: string) => ({ role: 'user', content }) as const;

let sent: Record<string, unknown> = {};
/** Remembers what a client really sends. */
const fetchRecorded: typeof fetch = (input, init) => {
  if (typeof init?.body === 'string') sent = JSON.parse(init.body) as typeof sent;
  return fetch(input, init);
};

/** As the client has parsed them; its types allow for calls that are no function. */
const argumentsOf = (call: object) =>
  z.object({ function: z.object({ parsed_arguments: feeling }) }).parse(call).function.parsed_arguments;

let next = 0;
/** Asks for each of the next texts, all at once, and compares with what is known. */
async function classify(
  t: Tap,
  count: number,
  ask: (text: string) => Promise<Label | null | undefined>,
): Promise<void> {
  const texts = TEXTS.slice(next, next + count);
  next += count;
  t.equal(texts.length, count);
  const answers = await Promise.all(texts.map(({ text }) => ask(text)));
  t.same(
    answers,
    texts.map(({ label }) => label),
  );
}
type Tap = Pick<typeof t, 'equal' | 'same' | 'ok'>;

t.test('openai', async (t) => {
  const client = new OpenAI({ baseURL, apiKey, fetch: fetchRecorded, maxRetries: 0 });
  const { completions } = client.chat;

  await t.test('models', async (t) => {
    const ids = (await client.models.list()).data.map(({ id }) => id);
    t.ok(ids.includes(model));
    t.equal((await client.models.retrieve(model)).owned_by, 'eloquentpoll');
  });

  await t.test('create, with the options in the text', (t) =>
    classify(t, 8, async (text) => {
      const messages = [user(`${text} [${LABELS.join(', ')}]`)];
      const { choices, usage } = await completions.create({ model, messages, ...terms });
      t.ok(usage && usage.prompt_tokens > 0 && usage.total_tokens > usage.prompt_tokens, 'as the models counted');
      return choices[0]!.message.content as Label;
    }),
  );

  await t.test('parse, with a response format of zod', async (t) => {
    const response_format = zodResponseFormat(feeling, 'answer');
    await classify(t, 8, async (text) => {
      const { choices } = await completions.parse({ model, messages: [system, user(text)], response_format, ...terms });
      return choices[0]!.message.parsed?.feeling;
    });
    const schema = { type: 'object', properties: { feeling: { enum: LABELS } }, additionalProperties: false };
    t.match(sent.response_format, { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } });
  });

  await t.test('parse, with a tool of zod', async (t) => {
    const tools = [zodFunction({ name: 'classify', parameters: feeling })];
    const tool_choice = { type: 'function', function: { name: 'classify' } } as const;
    await classify(t, 8, async (text) => {
      const { choices } = await completions.parse({
        model,
        messages: [system, user(text)],
        tools,
        tool_choice,
        ...terms,
      });
      return argumentsOf(choices[0]!.message.tool_calls![0]!).feeling;
    });
    t.match(sent.tools, [{ function: { strict: true, parameters: { additionalProperties: false } } }]);
  });

  await t.test('stream', async (t) => {
    const response_format = zodResponseFormat(feeling, 'answer');
    await classify(t, 8, async (text) => {
      const messages = [system, user(text)];
      const streamed = completions.stream({
        model,
        messages,
        response_format,
        stream_options: { include_usage: true },
        ...terms,
      });
      const { choices } = await streamed.finalChatCompletion();
      t.ok((await streamed.totalUsage()).total_tokens > 0);
      return choices[0]!.message.parsed?.feeling;
    });
    t.match(sent, { stream: true, stream_options: { include_usage: true } });
    const [chunks, { text, label }] = [[] as string[], TEXTS[0]!];
    const messages = [user(`${text} [${LABELS.join(', ')}]`)];
    for await (const { choices } of await completions.create({ model, messages, stream: true, ...terms }))
      chunks.push(choices[0]?.delta.content ?? '');
    t.equal(chunks.join(''), label);
  });

  await t.test('errors say what they are of', async (t) => {
    const messages = [user('Which of these is larger?')];
    await t.rejects(completions.create({ model, messages }), {
      status: 400,
      param: 'messages',
      code: 'validation_error',
    });
    await t.rejects(completions.create({ model: 'gpt-5', messages }), {
      status: 404,
      code: 'model_not_found',
    });
    const stranger = new OpenAI({ baseURL, apiKey: 'sk-wrong', maxRetries: 0 });
    await t.rejects(stranger.chat.completions.create({ model, messages }), { status: 401, code: 'invalid_api_key' });
    const keyless = new OpenAI({ baseURL, apiKey: 'none', defaultHeaders: { authorization: null } });
    const free = await keyless.chat.completions.create({
      model: 'eloquentpoll/free',
      messages: [user('Which of these is larger? [A, B]')],
    });
    t.match(free, { eloquentpoll: { preset: 'free', cost_usd: 0 } });
  });
});

t.test('ai, with @ai-sdk/openai-compatible', async (t) => {
  const provider = createOpenAICompatible({
    name: 'eloquentpoll',
    baseURL,
    apiKey,
    fetch: fetchRecorded,
    supportsStructuredOutputs: true,
    includeUsage: true,
  });
  const asked = { model: provider(model), system: ASKED, providerOptions: { eloquentpoll: terms }, maxRetries: 0 };

  await t.test('generateObject, with a schema', async (t) => {
    await classify(
      t,
      8,
      async (prompt) => (await generateObject({ ...asked, prompt, schema: feeling })).object.feeling,
    );
    t.match(sent, { confidence_threshold: 1, response_format: { json_schema: { strict: true, name: 'response' } } });
  });

  await t.test('generateObject, with an enum', async (t) => {
    await classify(
      t,
      8,
      async (prompt) => (await generateObject({ ...asked, prompt, output: 'enum', enum: [...LABELS] })).object,
    );
    t.match(sent.response_format, { json_schema: { schema: { properties: { result: { enum: LABELS } } } } });
  });

  await t.test('generateText, with a forced tool and with a choice as output', async (t) => {
    const tools: ToolSet = { classify: { inputSchema: feeling } };
    await classify(t, 6, async (prompt) => {
      const { toolCalls } = await generateText({
        ...asked,
        prompt,
        tools,
        toolChoice: { type: 'tool', toolName: 'classify' },
      });
      return feeling.parse(toolCalls[0]!.input).feeling;
    });
    t.match(sent.tool_choice, { type: 'function', function: { name: 'classify' } });
    await classify(t, 6, async (prompt) => {
      const output = Output.choice({ options: [...LABELS] });
      return (await generateText({ ...asked, prompt, output })).output;
    });
  });

  await t.test('streamText, and its tool', async (t) => {
    await classify(t, 6, async (text) => {
      const { system: _, ...plain } = asked;
      return (await streamText({ ...plain, prompt: `${text} [${LABELS.join(', ')}]` }).text) as Label;
    });
    t.match(sent.stream_options, { include_usage: true });
    const tools: ToolSet = { classify: { inputSchema: feeling } };
    const streamed = streamText({ ...asked, prompt: TEXTS[1]!.text, tools, toolChoice: 'required' });
    t.match((await streamed.toolCalls)[0], { input: { feeling: TEXTS[1]!.label } });
    t.ok(((await streamed.usage).totalTokens ?? 0) > 0);
  });
});

t.test('@langchain/openai', async (t) => {
  const chat = new ChatOpenAI({
    model,
    apiKey,
    maxRetries: 0,
    modelKwargs: terms,
    configuration: { baseURL, fetch: fetchRecorded },
  });
  const asked = (text: string) => [system, user(text)];

  await t.test('withStructuredOutput by JSON schema', async (t) => {
    const classifier = chat.withStructuredOutput(feeling, { method: 'jsonSchema' });
    await classify(t, 12, async (text) => (await classifier.invoke(asked(text))).feeling);
    t.match(sent.response_format, { type: 'json_schema', json_schema: { name: 'extract', strict: true } });
  });

  await t.test('withStructuredOutput by function calling', async (t) => {
    const classifier = chat.withStructuredOutput(feeling, { method: 'functionCalling' });
    await classify(t, 12, async (text) => (await classifier.invoke(asked(text))).feeling);
    t.match(sent.tool_choice, { type: 'function', function: { name: 'extract' } });
  });

  await t.test('a stream of text', (t) =>
    classify(t, 10, async (text) => {
      let said = '';
      for await (const chunk of await chat.stream(`${text} [${LABELS.join(', ')}]`)) said += chunk.text;
      return said as Label;
    }),
  );
});

t.test('a tie is what each client has for an answer that was refused', async (t) => {
  const tied = await wholeService(t, { 1: 'AABB-' });
  await tied.app.listen({ host: '127.0.0.1', port: 0 });
  const at = {
    baseURL: `http://127.0.0.1:${(tied.app.server.address() as AddressInfo).port}/v1`,
    apiKey: tied.headers.authorization.slice('Bearer '.length),
  };
  const fast = 'eloquentpoll/fast';
  const prompt = 'Recorded question #1';
  const letters = z.object({ letter: z.enum(['A', 'B', 'C']) });
  const refusal = 'The poll is a tie, so no option has won: A 2, B 2, C 0.';

  const response_format = zodResponseFormat(letters, 'answer');
  const asked = { model: fast, messages: [user(prompt)], response_format };
  const { choices } = await new OpenAI(at).chat.completions.parse(asked);
  t.match(choices[0]!.message, { parsed: null, refusal });

  const provider = createOpenAICompatible({ name: 'eloquentpoll', supportsStructuredOutputs: true, ...at });
  const object = generateObject({ model: provider(fast), prompt, schema: letters });
  await t.rejects(object, { name: 'AI_NoObjectGeneratedError', text: refusal, finishReason: 'content-filter' });

  const chat = new ChatOpenAI({ model: fast, apiKey: at.apiKey, configuration: at });
  const { parsed } = await chat.withStructuredOutput(letters, { includeRaw: true }).invoke(prompt);
  t.equal(parsed, null, 'LangChain drops the refusal, and answers nothing');
});

t.test('those were all of them', async (t) => {
  t.equal(next, TEXTS.length);
  t.equal(TEXTS.length, 100);
});
