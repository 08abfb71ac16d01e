import OpenAI from 'openai';
import type { Test } from 'tap';
import { type Behaviour, buildSimulator, type LoggedCall, type SimulatorOptions } from '../src/app.ts';

// A listening simulator for one test, closed when the test ends, and the questions to ask it.

export interface Running {
  url: string;
  client: OpenAI;
  control: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: unknown }>;
  behave: (pattern: string, behaviour: Behaviour) => Promise<void>;
  calls: (query?: string) => Promise<LoggedCall[]>;
  connections: () => Promise<number>;
  close: () => Promise<void>;
}

/** Answers at once by default. */
export async function start(t: Test, options: SimulatorOptions = {}): Promise<Running> {
  const app = buildSimulator({ latencyScale: 0, drainMs: 1000, ...options });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  const control: Running['control'] = async (method, path, body) => {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(`${url}/_control/${path}`, { method, ...init });
    return { status: response.status, body: await response.json() };
  };
  return {
    url,
    client: new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0, timeout: 10_000 }),
    control,
    behave: async (pattern, behaviour) => {
      const { status, body } = await control('POST', `models/${pattern}`, behaviour);
      if (status !== 200) throw new Error(JSON.stringify(body));
    },
    calls: async (query = '') => {
      const { body } = await control('GET', `calls${query}`);
      return (body as { calls: LoggedCall[] }).calls;
    },
    connections: () =>
      new Promise((resolve, reject) => {
        app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    close: () => app.close(),
  };
}

export type Printed = readonly [label: string, text: string][];

/** A user message in the form in which votes are printed. */
export function paper(question: string, options: Printed, nonce = 'k3v9'): string {
  const lines = options.map(([label, text]) => `[${label}] ${JSON.stringify(text)}`);
  return [`<<<BALLOT ${nonce}`, 'QUESTION:', question, 'OPTIONS:', ...lines, `BALLOT ${nonce}>>>`].join('\n');
}

export const COLOURS: Printed = [
  ['QJ', 'Red'],
  ['ZR', 'Blue'],
  ['HN', 'Green'],
];

/** The body of a call that asks for JSON. */
export function vote(model: string, question = 'Which colour is the calmest?', options: Printed = COLOURS) {
  const schema = {
    type: 'object',
    properties: { choice: { type: 'string', enum: options.map(([label]) => label) } },
    required: ['choice'],
  };
  return {
    model,
    messages: [
      { role: 'system' as const, content: 'Vote for one option.' },
      { role: 'user' as const, content: paper(question, options) },
    ],
    response_format: { type: 'json_schema' as const, json_schema: { name: 'vote', strict: true, schema } },
  };
}

/** The text of the option that a model votes for; null when it refuses. */
export async function choice(running: Running, model: string, question?: string, options: Printed = COLOURS) {
  const completion = await running.client.chat.completions.create(vote(model, question, options));
  const { content } = completion.choices[0]!.message;
  if (content === null) return null;
  const { choice: label } = JSON.parse(content) as { choice: string };
  return options.find(([candidate]) => candidate === label)?.[1];
}
