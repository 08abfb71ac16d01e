import { randomBytes } from 'node:crypto';
import type { ModelMessage, ReportedUsage } from './answer.ts';

// The bytes of a chat completion: one JSON document, or a stream of chunks that ends in [DONE].

export interface Payload {
  contentType: string;
  /** Chunks in the order in which a provider would flush them. */
  pieces: string[];
}

interface Completion {
  model: string;
  said: ModelMessage;
  usage: ReportedUsage | null;
}

const newId = () => `chatcmpl-${randomBytes(12).toString('hex')}`;
const seconds = () => Math.floor(Date.now() / 1000);

export function asDocument({ model, said, usage }: Completion): Payload {
  const toolCalls = said.toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }));
  const message = {
    role: 'assistant',
    content: said.content,
    refusal: said.refusal,
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
  };
  const body = {
    id: newId(),
    object: 'chat.completion',
    created: seconds(),
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: said.finish }],
    ...(usage === null ? {} : { usage }),
    system_fingerprint: 'fp_simulator',
  };
  return { contentType: 'application/json; charset=utf-8', pieces: [JSON.stringify(body)] };
}

export function asStream({ model, said, usage }: Completion): Payload {
  const head = { id: newId(), object: 'chat.completion.chunk', created: seconds(), model };
  const chunk = (delta: object, finish: string | null = null) =>
    line({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
  const pieces = [chunk({ role: 'assistant', content: said.content === null ? null : '' })];
  for (const text of halves(said.content ?? '')) pieces.push(chunk({ content: text }));
  if (said.refusal !== null) pieces.push(chunk({ refusal: said.refusal }));
  for (const [index, { id, name, arguments: args }] of said.toolCalls.entries()) {
    pieces.push(chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }));
    for (const text of halves(args)) pieces.push(chunk({ tool_calls: [{ index, function: { arguments: text } }] }));
  }
  pieces.push(chunk({}, said.finish));
  if (usage !== null) pieces.push(line({ ...head, choices: [], usage }));
  pieces.push('data: [DONE]\n\n');
  return { contentType: 'text/event-stream; charset=utf-8', pieces };
}

const line = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

function halves(text: string): string[] {
  const letters = [...text];
  const middle = Math.ceil(letters.length / 2);
  return [letters.slice(0, middle).join(''), letters.slice(middle).join('')].filter((half) => half !== '');
}
