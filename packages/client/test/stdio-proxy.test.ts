import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { splitLines } from '../src/split-lines.ts';
import { serve } from './service.ts';

// The MCP server on standard input and output, as a host starts it; its bundle is in apps/gateway/test/agents/mcpb.test.ts.

const PROXY = fileURLToPath(new URL('../src/mcp/stdio-proxy.ts', import.meta.url));

t.test('a message that holds line separators is one message, and what is no JSON is refused', async (t) => {
  const { url, asked } = await serve(t, ({ body }) => {
    return { jsonrpc: '2.0', id: (body as { id: number }).id, result: { content: [] } };
  });
  const child = spawn(process.execPath, [PROXY], { env: { ...process.env, EP_URL: url, EP_KEY: 'ep_k_x' } });
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
  const question = 'Which of a\u2028b and c\u2029d?';
  const call = {
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'poll_question', arguments: { question } },
  };
  child.stdin.write(`${JSON.stringify(call)}\r\n\nno JSON\n`);
  const answers: { id: number | null; error?: { code: number; message: string } }[] = [];
  for await (const line of splitLines(child.stdout)) {
    answers.push(JSON.parse(line.text ?? ''));
    if (answers.length === 2) child.stdin.end();
  }
  const [[code], err] = await ended;
  t.same([code, err], [0, '']);
  t.same(
    asked.map(({ body }) => body),
    [call],
  );
  t.same(
    answers.sort((a, b) => Number(a.id) - Number(b.id)),
    [
      { jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'The line is not JSON.' } },
      { jsonrpc: '2.0', id: 7, result: { content: [] } },
    ],
  );
});

t.test('a request whose answer is lost is answered with an error; what needs no answer gets none', async (t) => {
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } };
  const event = (message: object) => `data: ${JSON.stringify(message)}\r\n\r\n`;
  const { url, asked } = await serve(t, ({ body }, response) => {
    const { id, method } = body as { id?: number; method?: string };
    if (method === 'html') return void response.end('<h1>Log in to the network</h1>');
    if (method === 'other') return { jsonrpc: '2.0', id: 99, result: {} };
    if (method === undefined || id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(progress));
    if (method === 'lost') return void response.write(' ', () => response.socket?.destroy());
    return void response.end(method === 'whole' ? event({ jsonrpc: '2.0', id, result: {} }) : '');
  });
  const child = spawn(process.execPath, [PROXY], { env: { ...process.env, EP_URL: url, EP_KEY: 'ep_k_x' } });
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
  const sent = [
    { id: 1, method: 'html' },
    { id: 2, method: 'short' },
    { id: 3, method: 'whole' },
    { id: 4, method: 'lost' },
    { id: 5, method: 'other' },
    { method: 'notifications/initialized' },
    { id: 6, result: {} },
  ];
  for (const message of sent) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const answers: { id?: number; result?: object; error?: { code: number; message: string } }[] = [];
  for await (const line of splitLines(child.stdout)) {
    const message = JSON.parse(line.text ?? '');
    if (message.id !== undefined && message.id !== 99) answers.push(message);
    if (answers.length === 5 && asked.length === sent.length) child.stdin.end();
  }
  const [[code], err] = await ended;
  t.same([code, err], [0, '']);
  t.match(
    answers.sort((a, b) => Number(a.id) - Number(b.id)),
    [
      { id: 1, error: { code: -32_603, message: /is no MCP server: 200 without JSON-RPC/ } },
      { id: 2, error: { code: -32_603, message: 'The answer of the service broke off.' } },
      { id: 3, result: {} },
      { id: 4, error: { code: -32_603, message: /cannot be reached/ } },
      { id: 5, error: { code: -32_603, message: 'The service answered something else.' } },
    ],
  );
});

/** The answers to requests of a host, in the order of their ids. */
async function answersOf(t: Test, env: NodeJS.ProcessEnv, lines: readonly string[], expected: number) {
  const child = spawn(process.execPath, [PROXY], { env: { PATH: process.env.PATH, ...env } });
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
  for (const line of lines) child.stdin.write(`${line}\n`);
  const answers: { id: number | null; error?: { code: number; message: string; data?: object } }[] = [];
  for await (const line of splitLines(child.stdout)) {
    answers.push(JSON.parse(line.text ?? ''));
    if (answers.length === expected) child.stdin.end();
  }
  const [[code], err] = await ended;
  t.same([code, err], [0, '']);
  return answers.sort((a, b) => Number(a.id) - Number(b.id));
}

const ping = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

t.test('settings that cannot be right are an answer in words, without their secrets', async (t) => {
  for (const [env, message] of [
    [
      { EP_KEY: 'ep_k_secret\u0001', EP_URL: 'http://127.0.0.1:9' },
      'EP_KEY contains characters that API keys never have.',
    ],
    [{ EP_KEY: 'ep_k_x', EP_URL: 'https://me:secret@polls.example' }, /^EP_URL must be an address such as/],
    [{ EP_KEY: 'ep_k_x', EP_URL: 'polls.example' }, /^EP_URL must be an address such as/],
  ] as const) {
    const [answer] = await answersOf(t, env, [ping(1)], 1);
    t.match(answer, { id: 1, error: { code: -32_603, message } });
    t.notMatch(answer?.error?.message, 'secret');
  }
  const [batch] = await answersOf(t, { EP_KEY: 'ep_k_x' }, [`[${ping(1)}]`], 1);
  t.match(batch, { id: null, error: { message: 'The line is not one message.' } });
});

t.test('a host that reads no notes still gets its answers', { timeout: 60_000 }, async (t) => {
  const child = spawn(process.execPath, [PROXY], { env: { PATH: process.env.PATH } });
  child.stderr.destroy();
  const ended = once(child, 'close');
  const lines = splitLines(child.stdout);
  const ping = (id?: number) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n`);
  // What has no id is answered with a note, which is not read.
  ping();
  ping(1);
  t.match((await lines.next()).value?.text, /"id":1,.*EP_KEY is not set/);
  // Each note fails on its own, in a later turn of the event loop than the answer that follows it.
  for (let id = 2; id < 20; id++) {
    ping();
    ping(id);
    t.match((await lines.next()).value?.text, `"id":${id},`);
  }
  child.stdin.end();
  t.same(await ended, [0, null]);
});

t.test('a host that no longer reads, and a poll that no service could be asked for, end without a fault', async (t) => {
  const { url } = await serve(t, ({ body }) => ({ jsonrpc: '2.0', id: (body as { id: number }).id, result: {} }));
  const child = spawn(process.execPath, [PROXY], { env: { PATH: process.env.PATH, EP_KEY: 'ep_k_x', EP_URL: url } });
  const ended = Promise.all([once(child, 'close'), text(child.stderr)]);
  child.stdout.destroy();
  child.stdin.end(`${ping(1)}\n`);
  const [[code], err] = await ended;
  t.same([code, err], [0, '']);
  const params = { name: 'poll_question', arguments: {} };
  const poll = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const [unsent] = await answersOf(t, { EP_KEY: 'ep_k_x', EP_URL: 'http://127.0.0.1:9' }, [poll], 1);
  t.match(unsent?.error?.message, /cannot be reached: [^.]*\.$/, 'at once, and nothing was charged');
});

t.test('requests are answered after the end of the input, and a signal cancels what is left of them', async (t) => {
  let isSlow = false;
  const { url, asked } = await serve(t, ({ body }, response) => {
    const answer = JSON.stringify({ jsonrpc: '2.0', id: (body as { id: number }).id, result: {} });
    if (!isSlow) setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(answer), 100);
  });
  const start = () =>
    spawn(process.execPath, [PROXY], { env: { PATH: process.env.PATH, EP_KEY: 'ep_k_x', EP_URL: url } });
  const piped = start();
  piped.stdin.end(`${ping(1)}\n${ping(2)}\n`);
  const lines = (await text(piped.stdout)).trim().split('\n');
  t.same(lines.map((line) => JSON.parse(line).id).sort(), [1, 2]);
  isSlow = true;
  const held = start();
  const ended = once(held, 'close');
  held.stdin.write(`${ping(3)}\n`);
  while (asked.length < 3) await new Promise((resolve) => setTimeout(resolve, 10));
  held.kill('SIGTERM');
  t.same(await ended, [0, null]);
});

t.test('a service below a path is found, and its errors keep their code and their way out', async (t) => {
  const refusal = { error: 'Wrong', code: 'invalid_api_key', recovery: [{ action: 're_authenticate' }] };
  const { url, asked } = await serve(t, (_asked, response, nth) => {
    if (nth === 2) return void response.writeHead(308, { location: 'https://new.example/api/mcp' }).end();
    response.statusCode = 401;
    return refusal;
  });
  // With the end of a line, as it is read from a file.
  const env = { EP_KEY: 'ep_k_x\n', EP_URL: `${url}/polls/` };
  t.match(await answersOf(t, env, [ping(1)], 1), [{ error: { message: 'Wrong', data: refusal } }]);
  const [moved] = await answersOf(t, env, [ping(2)], 1);
  t.match(moved?.error?.message, /answered 308: EP_URL must be .* redirects, https:\/\/new\.example\/api\/mcp\.$/);
  t.match(asked, [{ path: '/polls/api/mcp', headers: { authorization: 'Bearer ep_k_x' } }, {}]);
});
