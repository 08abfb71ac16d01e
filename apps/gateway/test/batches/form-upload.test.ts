import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LIMITS } from '@eloquentpoll/contracts';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { piecesOf, readFormUpload } from '../../src/batches/upload/form-upload.ts';
import { meteredBytes } from '../../src/batches/upload/metered-bytes.ts';
import { build } from '../fixtures/build.ts';

// slow: 4 s

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const MIB = 1024 * 1024;
const MAX_FIELDS_BYTES = LIMITS.batch.inline_bytes + LIMITS.batch.line_bytes;
const FORM = { 'content-type': 'multipart/form-data; boundary=x' };
const LAST = '--x--\r\n';
const head = (name: string, more = ''): string =>
  `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
const field = (name: string, value: string): string => `${head(name)}${value}\r\n`;
const read = (raw: AsyncIterable<Buffer>) => readFormUpload({ raw, headers: FORM });

const inUse = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

for (const name of ['rows', 'preset'])
  t.test(`32 fields of 8 MiB named ${name} are refused before more than one of them is held`, async (t) => {
    const chunk = Buffer.alloc(MIB / 16, 'a');
    const before = inUse();
    let [sent, most, isLeft] = [0, 0, false];
    async function* fields(): AsyncGenerator<Buffer> {
      try {
        for (let i = 0; i < 32; i++) {
          yield Buffer.from(head(name));
          for (let n = 0; n < 8 * MIB; n += chunk.length) {
            if (sent % (4 * MIB) === 0) most = Math.max(most, inUse() - before);
            sent += chunk.length;
            yield chunk;
          }
          yield Buffer.from('\r\n');
        }
      } finally {
        isLeft = true;
      }
    }
    await t.rejects(read(fields()), { code: 'payload_too_large' });
    await eventually('nothing more is read', () => isLeft);
    t.ok(sent <= MAX_FIELDS_BYTES + MIB, `${sent} bytes were read`);
    t.ok(most < 30e6, `${Math.round(most / 1e6)} MB more than before`);
  });

t.test(
  'what comes byte by byte is held in larger pieces, which take little more memory than their bytes',
  async (t) => {
    async function* bytes(): AsyncGenerator<Buffer> {
      for (let i = 0; i < 5_000; i++) yield Buffer.from([i % 256]);
    }
    const pieces: Buffer[] = [];
    for await (const piece of piecesOf(bytes(), { ofFile: () => 0, onError: () => {} })) pieces.push(piece);
    t.same(
      pieces.map(({ length }) => length),
      [1_024, 1_024, 1_024, 1_024, 904],
    );
    t.ok(Buffer.concat(pieces).every((byte, i) => byte === i % 256));
  },
);

t.test('what comes behind a file is a field in the wrong place, or too large, whenever it comes', async (t) => {
  const file = 'question,options\n'.repeat(100);
  async function* form(behind: string): AsyncGenerator<Buffer> {
    yield Buffer.from(`${field('preset', 'fast')}${head('file', '; filename="a.csv"')}${file}\r\n--x`);
    await nextTurn();
    await nextTurn();
    yield Buffer.from(`${behind}--\r\n`);
  }
  const bytesOf = async (...behind: string[]) => {
    const { fields, bytes } = await read(form(behind.map((each) => `${each.slice('--x'.length)}--x`).join('')));
    t.same(fields, { preset: 'fast' });
    return (await buffer(bytes)).toString();
  };
  t.equal(await bytesOf(), file);
  await t.rejects(bytesOf(field('panel', 'mine')), { message: /panel must come before the file/ });
  await t.rejects(bytesOf(field('panel', 'x'.repeat(70_000))), { code: 'payload_too_large' });
});

t.test('a form that ends too soon is refused, and one whose connection breaks fails with it', async (t) => {
  const cut = 'the connection broke';
  async function* form(text: string, error?: Error): AsyncGenerator<Buffer> {
    yield Buffer.from(text.padEnd(2_000, ' '));
    await nextTurn();
    if (error) throw error;
  }
  const file = head('file', '; filename="a.csv"');
  for (const text of [head('rows'), file]) {
    const whole = async (raw: AsyncIterable<Buffer>) => buffer((await read(raw)).bytes);
    await t.rejects(whole(form(text)), { code: 'validation_error' });
    await t.rejects(whole(form(text, new Error(cut))), { message: cut });
  }
});

t.test('an upload that takes too long is a 408 that says what to do', async (t) => {
  const now = performance.now.bind(performance);
  let ahead = 0;
  t.intercept(performance, 'now', { value: () => now() + ahead });
  async function* slow(): AsyncGenerator<Buffer> {
    yield Buffer.from('a');
    ahead = 599_000;
    yield Buffer.from('b');
    ahead = 601_000;
    yield Buffer.from('c');
  }
  const taken: string[] = [];
  const upload = async () => {
    for await (const bytes of meteredBytes(slow())) taken.push(bytes.toString());
  };
  const message = 'An upload may take at most 10 minutes: send the file in parts.';
  await t.rejects(upload(), { code: 'request_timeout', message });
  t.same(taken, ['a', 'b']);
});

t.test('each form refuses what is too much, closes the connection, and takes rows of nearly 8 MiB', async (t) => {
  const { app, keyWith, sessionFor } = await build(t);
  const { accountId, bearer } = await keyWith(10);
  const cookie = await sessionFor(accountId);
  const post = (url: string, payload: string) =>
    app.inject({ method: 'POST', url, headers: { ...FORM, ...(url === '/api/batches' ? bearer : cookie) }, payload });
  const half = 'a'.repeat(5 * MIB);
  const row = JSON.stringify({ question: 'Which of these is the best choice?', options: ['A', 'B'], max_cost_usd: 1 });
  const blank = `${' '.repeat(60_000)}\n`;
  const rows = `${row}\n${blank.repeat(Math.floor((LIMITS.batch.inline_bytes - 1_000) / blank.length))}`;
  for (const [url, status] of [
    ['/api/batches', 202],
    ['/dashboard/batches/check', 200],
    ['/dashboard/batches', 303],
  ] as const) {
    for (const [fields, detail] of [
      [[field('rows', half), field('rows', half)], `at most ${MAX_FIELDS_BYTES} bytes`],
      [[field('metadata[a]', 'a'.repeat(70_000)), field('rows', rows)], 'metadata[a] may have at most 65536 bytes'],
    ] as const) {
      const refused = await post(url, `${fields.join('')}${LAST}`);
      t.match([refused.statusCode, refused.headers.connection], [413, 'close'], url);
      t.match(refused.body, detail, url);
    }
    const taken = await post(url, `${field('preset', 'fast')}${field('rows', rows)}${LAST}`);
    t.equal(taken.statusCode, status, url);
  }

  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const tooMuch = `${field('rows', half)}${head('rows')}${half}`.slice(0, MAX_FIELDS_BYTES + 1);
  const request = [
    'POST /api/batches HTTP/1.1',
    'Host: x',
    `Authorization: ${bearer.authorization}`,
    `Content-Type: ${FORM['content-type']}`,
    `Content-Length: ${256 * MIB}`,
  ].join('\r\n');
  const answer = await new Promise<string>((resolve, reject) => {
    let said = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${request}\r\n\r\n${tooMuch}`));
    socket.setEncoding('utf8').on('data', (chunk) => (said += chunk));
    socket.on('close', () => resolve(said)).on('error', reject);
  });
  t.match(answer, /^HTTP\/1\.1 413 .*"code":"payload_too_large"/s, 'while the rest is still to come');
});
