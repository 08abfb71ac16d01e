import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Test } from 'tap';

// A provider that a test scripts call by call.

export interface RequestBody {
  model: string;
  messages: { role: string; content: string }[];
  response_format?: { json_schema: { schema: { properties: Record<string, unknown>; required: string[] } } };
  tools?: { function: { name: string; parameters: { properties: Record<string, unknown> } } }[];
  [field: string]: unknown;
}

export interface Call {
  model: string;
  body: RequestBody;
  headers: IncomingMessage['headers'];
  path: string;
  /** Resolves when the connection of this call is gone. */
  closed: Promise<unknown>;
  /** In the order in which they were shown. */
  labels: string[];
}

export type Behaviour = (call: Call, res: ServerResponse) => void;

export interface Provider {
  url: string;
  origin: string;
  calls: Call[];
  /** Behaviours of the next calls of a model; the last one stays. */
  behave(model: string, ...behaviours: Behaviour[]): void;
  /** Resolves when this many calls have come. */
  called(times: number): Promise<void>;
}

export async function misbehavingServer(t: Test): Promise<Provider> {
  const scripts = new Map<string, Behaviour[]>();
  const calls: Call[] = [];
  const waiting: { times: number; resolve: () => void }[] = [];
  /** One connection serves many calls, and its end is waited for once. */
  const ends = new WeakMap<Socket, Promise<unknown>>();
  const server = createServer((req, res) => {
    res.on('error', () => {});
    let text = '';
    req.setEncoding('utf8').on('data', (piece) => {
      text += piece;
    });
    req.on('end', () => {
      const body: RequestBody = JSON.parse(text);
      const block = body.messages[1]!.content;
      const labels = [...block.matchAll(/^\[([A-Z]{2})\] "/gm)].map((match) => match[1]!);
      const call = {
        model: body.model,
        body,
        headers: req.headers,
        path: req.url ?? '',
        closed: ends.get(req.socket)!,
        labels,
      };
      calls.push(call);
      for (const entry of waiting.filter((one) => calls.length >= one.times)) entry.resolve();
      const script = scripts.get(body.model) ?? [votes()];
      (script.length > 1 ? script.shift()! : script[0]!)(call, res);
    });
  });
  server.on('connection', (socket) => {
    ends.set(socket, new Promise((resolve) => socket.once('close', resolve)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/v1`,
    calls,
    behave: (model, ...behaviours) => void scripts.set(model, behaviours),
    called: (times) =>
      new Promise((resolve) => {
        if (calls.length >= times) resolve();
        else waiting.push({ times, resolve });
      }),
  };
}

/** A whole completion around a message. */
export function completion(
  message: Record<string, unknown>,
  rest: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null, ...message } }],
    usage: { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 },
    ...rest,
  };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Behaviour {
  return (_, res) =>
    void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** An answer in the channel that was asked for. */
export function answerOf(body: RequestBody, label: string): Record<string, unknown> {
  if (body.tools) return { tool_calls: [toolCall('vote', { choice: label })] };
  if (body.response_format) return { content: JSON.stringify({ rationale: 'so', choice: label }) };
  return { content: `I think so.\nVOTE: ${label}` };
}

export function toolCall(name: string, args: unknown): Record<string, unknown> {
  return { id: 'call', type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

/** Votes for the option shown at this place. */
export function votes(place = 0, rest: Record<string, unknown> = {}): Behaviour {
  return (call, res) => json(completion(answerOf(call.body, call.labels[place]!), rest))(call, res);
}

/** Answers with these words, whatever was asked. */
export function says(message: Record<string, unknown>, rest: Record<string, unknown> = {}): Behaviour {
  return json(completion(message, rest));
}

export const silence: Behaviour = () => {};
