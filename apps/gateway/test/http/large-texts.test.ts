import { fastify } from 'fastify';
import t from 'tap';
import { LARGE_BYTES, sendable } from '../../src/http/large-texts.ts';
import { sendPublicText } from '../../src/http/send-tagged.ts';

/** Another string each time, as pages are. */
const text = (letter: string, length: number): string => Array.from({ length }, () => letter).join('');
const large = (letter: string): string => text(letter, LARGE_BYTES);

t.test('the same large text is the same bytes, also if it was made again; a short one stays a text', async (t) => {
  const first = sendable(large('a'));
  t.equal(sendable(large('a')).payload, first.payload);
  t.ok(Buffer.isBuffer(first.payload));
  t.not(sendable(large('b')).tag, first.tag);
  t.equal(sendable('short').payload, 'short');
  t.equal(sendable('é').bytes, 2);
  t.equal(sendable('é'.repeat(LARGE_BYTES)).bytes, 2 * LARGE_BYTES);
});

t.test('what is kept is bounded', async (t) => {
  const first = sendable(large('first')).payload;
  for (let i = 0; i < 100; i++) sendable(large(`${i} `));
  t.not(sendable(large('first')).payload, first);
});

t.test('answers with a large document share its bytes, and short ones are texts', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  const payloads: unknown[] = [];
  app.addHook('onSend', async (_request, _reply, payload) => void payloads.push(payload));
  app.get<{ Params: { size: string } }>('/:size', (request, reply) =>
    sendPublicText(request, reply.type('application/json; charset=utf-8'), text('é', Number(request.params.size))),
  );
  const answers = await Promise.all([1, 2, 3].map(() => app.inject(`/${LARGE_BYTES}`)));
  t.ok(Buffer.isBuffer(payloads[0]));
  t.same(new Set(payloads).size, 1);
  for (const { body, headers } of answers) {
    t.equal(body, text('é', LARGE_BYTES));
    t.match(headers, { 'content-type': 'application/json; charset=utf-8', 'content-length': String(2 * LARGE_BYTES) });
  }
  const head = await app.inject({ method: 'HEAD', url: `/${LARGE_BYTES}` });
  t.match([head.body, head.headers['content-length']], ['', String(2 * LARGE_BYTES)]);
  const etag = String(answers[0]!.headers.etag);
  const again = await app.inject({ url: `/${LARGE_BYTES}`, headers: { 'if-none-match': etag } });
  t.match([again.statusCode, again.body, again.headers.etag], [304, '', etag]);
  const short = await app.inject(`/${LARGE_BYTES / 4}`);
  t.match([short.statusCode, typeof payloads.at(-1)], [200, 'string']);
});
