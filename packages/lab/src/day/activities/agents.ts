import { randomUUID } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { presetPanel } from '../../fixture/voting-panel.ts';
import { type DayAnswer, jsonIn } from '../call.ts';
import { inMicroUsd } from '../day-user.ts';
import { type Activity, anyPerson, anyPreset, type DayWorld, judgeAnswer, newQuestion } from '../world.ts';
import { judgePublicResult } from './judge-public-result.ts';
import { eventsIn } from './sessions.ts';

// Agents and programs that use other protocols: MCP, A2A, chat completions.

export const askByMcp: Activity = async (world) => {
  const way = 'MCP';
  const [asked, by, preset] = [newQuestion(world), anyPerson(world), anyPreset(world)];
  const params = { name: 'poll_question', arguments: { ...asked, preset } };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const headers = { accept: 'application/json, text/event-stream' };
  const asking = { ...WITHOUT_KEY, waitSaidIn: waitOfTool };
  const answered = await world.call({ way, path: '/api/mcp', body, by, headers, ...asking });
  if (!answered.isExpected) return;
  const message = messageIn(answered);
  if (Value.Check(FailedTool, message)) {
    world.diary.note(`${way}: the tool failed: ${message.result.content[0]?.text.slice(0, 200)}`);
    return;
  }
  judgeAnswer(world, way, {
    asked,
    panel: presetPanel(preset),
    answer: Value.Check(McpMessage, message) ? message.result.structuredContent : null,
    by,
  });
  if (world.chance.happens(0.2)) await world.call({ way: 'MCP tools/list', path: '/api/mcp', body: LIST, by, headers });
};

const WITHOUT_KEY = { asksWithoutKey: true };
const messageIn = ({ value, text }: DayAnswer): unknown => value ?? eventsIn(text).at(-1)?.data;

/** What an agent learns from a tool error: that it may retry, and after how many seconds. */
export function waitOfTool(answer: DayAnswer): number | null {
  const message = messageIn(answer);
  if (!Value.Check(FailedTool, message)) return null;
  const refusal = jsonIn(message.result.content[0]?.text ?? '');
  if (!Value.Check(ToolRefusal, refusal)) return null;
  return refusal.recovery.find(({ after_seconds }) => after_seconds !== undefined)?.after_seconds ?? null;
}
const FailedTool = Type.Object({
  result: Type.Object({ isError: Type.Literal(true), content: Type.Array(Type.Object({ text: Type.String() })) }),
});
const ToolRefusal = Type.Object({
  retryable: Type.Literal(true),
  recovery: Type.Array(Type.Object({ after_seconds: Type.Optional(Type.Number()) })),
});

const McpMessage = Type.Object({ result: Type.Object({ structuredContent: Type.Unknown() }) });
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };

export const askByA2a: Activity = async (world) => {
  const way = 'A2A';
  const [asked, by, preset] = [newQuestion(world), anyPerson(world), anyPreset(world)];
  const message = {
    role: 'user',
    messageId: randomUUID(),
    parts: [{ kind: 'data', data: { ...asked, preset } }],
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
  const { isExpected, read } = await world.call({ way, path: '/api/a2a/tasks/send', body, by, ...WITHOUT_KEY });
  if (!isExpected) return;
  const [artifact] = read(A2aTask).result.artifacts;
  judgeAnswer(world, way, { asked, panel: presetPanel(preset), answer: artifact?.parts[0]?.data, by });
};

const Part = Type.Object({ data: Type.Optional(Type.Unknown()) });
const A2aTask = Type.Object({
  result: Type.Object({ artifacts: Type.Array(Type.Object({ parts: Type.Array(Part) })) }),
});
const ChatPoll = Type.Object({
  poll_id: Type.String(),
  winning_option: Type.Union([Type.String(), Type.Null()]),
  cost_usd: Type.Number(),
});
const Completion = Type.Object({
  choices: Type.Array(Type.Object({ message: Type.Object({ content: Type.Union([Type.String(), Type.Null()]) }) })),
  eloquentpoll: ChatPoll,
});
const Chunk = Type.Object({
  choices: Type.Array(
    Type.Object({ delta: Type.Object({ content: Type.Optional(Type.Union([Type.String(), Type.Null()])) }) }),
  ),
  eloquentpoll: Type.Optional(ChatPoll),
});

const chat = (world: DayWorld, more: object = {}) => {
  const { question, options } = newQuestion(world);
  const content = `${question} [${options.join(', ')}]`;
  const preset = anyPreset(world);
  const body = { model: `eloquentpoll/${preset}`, messages: [{ role: 'user', content }], ...more };
  return { asked: { question, options }, panel: presetPanel(preset), body, by: anyPerson(world) };
};

export const askByChat: Activity = async (world) => {
  const way = 'chat completion';
  const { body, ...chosen } = chat(world);
  const { isExpected, read } = await world.call({
    way,
    path: '/v1/chat/completions',
    body,
    by: chosen.by,
    ...WITHOUT_KEY,
  });
  if (!isExpected) return;
  const { choices, eloquentpoll: poll } = read(Completion);
  await judgeChat(world, way, { ...chosen, poll, said: choices[0]?.message.content ?? null });
};

export const streamChat: Activity = async (world) => {
  const way = 'chat completion, streamed';
  const { body, ...chosen } = chat(world, { stream: true });
  const { isExpected, text } = await world.call({
    way,
    path: '/v1/chat/completions',
    body,
    by: chosen.by,
    ...WITHOUT_KEY,
  });
  if (!isExpected) return;
  const chunks = eventsIn(text).flatMap(({ data }) => (Value.Check(Chunk, data) ? [data] : []));
  const said = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  const poll = chunks.find(({ eloquentpoll }) => eloquentpoll)?.eloquentpoll;
  await judgeChat(world, way, { ...chosen, poll, said: said === '' ? null : said });
};

async function judgeChat(
  world: DayWorld,
  way: string,
  {
    asked,
    panel,
    by,
    poll,
    said,
  }: Omit<ReturnType<typeof chat>, 'body'> & { poll: Static<typeof ChatPoll> | undefined; said: string | null },
): Promise<void> {
  if (!poll) return world.diary.note(`${way}: it names no poll`);
  by.chargedU += inMicroUsd(poll.cost_usd);
  if (said !== poll.winning_option && poll.winning_option !== null)
    world.diary.note(`${way}: it says ${said}, not ${poll.winning_option}`);
  await judgePublicResult(
    world,
    way,
    { asked, panel },
    { resultId: poll.poll_id, winner: poll.winning_option, costUsd: poll.cost_usd },
  );
}
