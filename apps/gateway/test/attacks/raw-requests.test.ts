import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { requestsWithinRequests } from '@eloquentpoll/testkit/fakes/requests-within-requests';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { stored } from '../fixtures/stored.ts';

// Bytes that no client library would send. Whatever they mean to a proxy in between, here they are one request or
// none: a second one hidden in the first is never run, and no header of an answer comes from a caller.

const { app, context, keyWith } = await build(t);
const { key } = await keyWith(10);
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;

/** Sends bytes and reads until the other side closes, has given as many answers as are due, or has had time for them. */
function exchange(bytes: string, due = Number.POSITIVE_INFINITY): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    const end = () => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (statuses(answer).length >= due) end();
    });
    socket.on('close', end);
    socket.on('error', end);
    socket.write(Buffer.from(bytes, 'latin1'));
    // Who waits for more bytes gives no answer and closes nothing; others would have been served meanwhile.
    if (due === Number.POSITIVE_INFINITY) void servedOthers(() => socket.destroyed).then(end);
  });
}

/** Round trips to Postgres and back, which a request that came before them has had too. */
async function servedOthers(isOver: () => boolean): Promise<void> {
  for (let i = 0; i < 10 && !isOver(); i++) await app.inject({ url: '/api/health' });
}

const statuses = (answer: string): number[] =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));

const BODY = JSON.stringify({ question: 'Which of these is the best choice?', options: ['A', 'B'] });
const HIDDEN = `POST /api/polls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const head = (...lines: string[]) =>
  ['POST /api/intents/match HTTP/1.1', 'Host: x', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');

t.test('a request smuggled in the body of another is never run', async (t) => {
  const smuggled = requestsWithinRequests(HIDDEN);
  const before = await stored(context);
  for (const [name, bytes] of Object.entries(smuggled)) {
    const answer = await exchange(bytes);
    const [first, ...more] = statuses(answer);
    // Two answers would be right only where no part of the first request was in doubt.
    t.notOk(more.includes(202), `${name}: ${[first, ...more]}`);
    t.ok(
      first === undefined || first === 400 || first === 200 || first === 404 || first === 405 || first === 408,
      `${name}: ${first}`,
    );
    t.notMatch(answer, /node_modules|at \S+ \(/, name);
  }
  t.same(await stored(context), before, 'no poll was begun');
  t.same(
    statuses(await exchange(`GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n${HIDDEN}`, 2)),
    [200, 202],
    'and two that are in order are two',
  );
});

t.test('an upgrade is no way out of HTTP', async (t) => {
  for (const protocol of ['websocket', 'h2c', 'TLS/1.0']) {
    const answer = await exchange(
      `GET /api/health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`,
    );
    t.notOk(statuses(answer).includes(101), protocol);
  }
});

t.test('headers have a size and a number', async (t) => {
  const many = Array.from({ length: 3_000 }, (_, i) => `X-${i}: y`).join('\r\n');
  for (const [name, lines] of Object.entries({
    'a long one': `X: ${'y'.repeat(20_000)}`,
    many: many,
    'a long name': `${'x'.repeat(20_000)}: y`,
  })) {
    const [status] = statuses(await exchange(`GET /api/health HTTP/1.1\r\nHost: x\r\n${lines}\r\n\r\n`));
    t.equal(status, 431, name);
  }
  const [long] = statuses(await exchange(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`));
  t.ok(long === 431 || long === 414, `a long path: ${long}`);
});

t.test('a header that comes twice is one, or none', async (t) => {
  const asking = (...lines: string[]) =>
    exchange(['GET /api/keys HTTP/1.1', 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n'), 1);
  const good = `Authorization: Bearer ${key}`;
  t.same(statuses(await asking(good)), [200]);
  // Node keeps the first and drops the others; what must not happen is that a bad one opens.
  t.same(statuses(await asking('Authorization: Bearer x', good)), [401]);
  const lines = [
    `Authorization: Bearer ${key}`,
    'Idempotency-Key: a',
    'Idempotency-Key: b',
    'Content-Type: application/json',
    `Content-Length: ${BODY.length}`,
  ];
  const twice = await exchange(
    `POST /api/polls HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n${BODY}`,
    1,
  );
  t.same(statuses(twice), [400], 'two keys are no key');
});

t.test('no header of an answer comes from a caller unread', async (t) => {
  const asking = (...lines: string[]) =>
    exchange(
      ['GET /api/health?x=%0d%0aX-Evil:%201 HTTP/1.1', 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n'),
    );
  for (const line of [
    'X-Request-Id: evil%0d%0aX-Evil: 1',
    'X-Request-Id: "evil"; X-Evil: 1',
    'X-Request-Id: \xff\xfeevil',
    'Origin: https://evil\tX-Evil: 1',
  ]) {
    const [headers = ''] = (await asking(line)).split('\r\n\r\n');
    t.notMatch(headers, /^x-evil/im, line);
    t.notMatch(headers, /evil/i, line);
  }
  for (const path of [
    '/api/auth/login?next=%0d%0aX-Evil:1',
    '/api/auth/logout?returnTo=https://evil.example',
    '/api/auth/callback?code=x&state=%0d%0aX-Evil:1',
    '//evil.example/api/auth/login',
    '/\\evil.example',
  ]) {
    const [headers = ''] = (
      await exchange(`GET ${path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`)
    ).split('\r\n\r\n');
    t.notMatch(headers, /evil/i, path);
  }
});

t.test('a gigabyte is refused at its announcement, or once it is too much', async (t) => {
  const announced = await exchange(head('Content-Length: 1073741824'));
  t.same(statuses(announced), [413]);
  const chunk = `FFFF\r\n${'x'.repeat(0xffff)}\r\n`;
  const chunked = await exchange(`${head('Transfer-Encoding: chunked')}${chunk}${chunk}`);
  t.same(statuses(chunked), [413]);
});
