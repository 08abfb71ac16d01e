import fastify from 'fastify';
import t from 'tap';
import { sendResponse } from '../../src/agents/mcp/send-response.ts';

t.test('an event of MCP is one line to every reader, also where its bytes come in two parts', async (t) => {
  const message = { jsonrpc: '2.0', result: { text: 'a\u2028b\u2029c\u0085d' } };
  const bytes = new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`);
  const inTwo = bytes.indexOf(0xe2) + 1;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.subarray(0, inTwo));
      controller.enqueue(bytes.subarray(inTwo));
      controller.close();
    },
  });
  const app = fastify();
  t.teardown(() => app.close());
  app.get('/', (_request, reply) =>
    sendResponse(reply, new Response(body, { headers: { 'content-type': 'text/event-stream' } })),
  );
  const text = (await app.inject('/')).body;
  for (const end of ['\u2028', '\u2029', '\u0085']) t.notOk(text.includes(end), `U+${end.charCodeAt(0).toString(16)}`);
  t.same(JSON.parse(text.slice('data: '.length)), message);
});
