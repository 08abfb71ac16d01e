import { createParser } from 'eventsource-parser';
import type { Test } from 'tap';
import type { App } from '../src/app.ts';

// A client as a user would write it: fetch, and a parser that knows the standard.

export interface ReadEvent {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  data: any;
}

export interface Reading {
  status: number;
  headers: Headers;
  events: ReadEvent[];
  comments: string[];
  retries: number[];
  /** Waits for the next event; null at the end. */
  next(): Promise<ReadEvent | null>;
  /** Reads to the end. */
  all(): Promise<ReadEvent[]>;
  hangUp(): void;
}

/** Where the app listens; a real port, because injected requests have no socket. */
export async function listen(app: App): Promise<string> {
  return app.listen({ host: '127.0.0.1', port: 0 });
}

export async function readStream(
  t: Test,
  origin: string,
  headers: Record<string, string>,
  { body = POLL as unknown, query = '', path = '/api/poll/stream' } = {},
): Promise<Reading> {
  const caller = new AbortController();
  t.teardown(() => caller.abort());
  const response = await fetch(`${origin}${path}${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: caller.signal,
  });
  const reading = { events: [] as ReadEvent[], comments: [] as string[], retries: [] as number[] };
  const parser = createParser({
    onEvent: ({ id = '', event = '', data }) => void reading.events.push({ id, event, data: JSON.parse(data) }),
    onComment: (comment) => void reading.comments.push(comment),
    onRetry: (ms) => void reading.retries.push(ms),
    onError: (error) => t.fail(`not an event stream: ${error.message}`),
  });
  const text = new TextDecoder();
  const bytes = response.body!.getReader();
  let given = 0;
  async function next(): Promise<ReadEvent | null> {
    while (reading.events.length <= given) {
      const { done, value } = await bytes.read();
      if (done) return null;
      parser.feed(text.decode(value, { stream: true }));
    }
    return reading.events[given++]!;
  }
  return {
    ...reading,
    status: response.status,
    headers: response.headers,
    next,
    async all() {
      while (await next());
      return reading.events;
    },
    hangUp: () => caller.abort(),
  };
}

export const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
