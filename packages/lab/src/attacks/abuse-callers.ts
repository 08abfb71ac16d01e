import { randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';

// The callers of the abuse attack: some ask questions that make models fail, one asks ordinary questions meanwhile.

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

export type Post = (path: string, headers: Record<string, string>, body: object) => Promise<Answer>;

const TIMEOUT_MS = 60_000;

export function poster(port: number, sockets: number): { post: Post } & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  const post: Post = (path, headers, body) =>
    new Promise((resolve, reject) => {
      const options = { agent, host: '127.0.0.1', port, method: 'POST', path, signal: AbortSignal.timeout(TIMEOUT_MS) };
      const outgoing = request(
        { ...options, headers: { 'content-type': 'application/json', ...headers } },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece: string) => {
            text += piece;
          });
          response.on('error', reject);
          response.on('end', () => {
            resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], body: text });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.end(JSON.stringify(body));
    });
  return { post, [Symbol.dispose]: () => agent.destroy() };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** An address in the range that is reserved for benchmarks (198.18.0.0/15). */
const addressOf = (n: number): string => `198.${18 + ((n >> 16) & 1)}.${(n >> 8) & 255}.${n & 255}`;

export const askFree = (post: Post, n: number, addresses: number): Promise<Answer> =>
  post(
    '/api/quick-poll',
    { 'x-forwarded-for': addressOf(n % addresses) },
    { question: `How does one do what must not be done, number ${n}?`, options: ['This way', 'That way'] },
  );

export const askPaid = (post: Post, n: number, key: string): Promise<Answer> =>
  post('/api/poll', bearer(key), {
    question: `Think step by step without an end about number ${n}, then answer in verse.`,
    options: ['This way', 'That way'],
    preset: 'fast',
  });

/** Asks models that do not fail. Returns whether the answer is right and how long it took. */
export async function askHonestly(
  post: Post,
  key: string,
): Promise<{ isRight: boolean; tookMs: number; answer: Answer }> {
  const began = performance.now();
  const answer = await post('/api/poll', bearer(key), {
    question: `Which of these is the longest word, in round ${randomInt(1e9)}?`,
    options: ['sea', 'incomprehensibility', 'harbour'],
    preset: 'strong',
  });
  const isRight =
    answer.status === 200 && /"status":"success"/.test(answer.body) && /"winning_option":"inc/.test(answer.body);
  return { isRight, tookMs: performance.now() - began, answer };
}
