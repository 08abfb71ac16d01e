import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import t from 'tap';
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
