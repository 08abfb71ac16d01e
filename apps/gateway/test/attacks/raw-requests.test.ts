import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import t from 'tap';
import { build } from '../build.ts';
import { stored } from '../stored.ts';

// Bytes that no client library would send. Whatever they mean to somebody in between, here they are one request or
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

t.test('what is a request within a request is run by nobody', async (t) => {
  const smuggled: Record<string, string> = {
    'both lengths': `${head(`Content-Length: ${HIDDEN.length + 5}`, 'Transfer-Encoding: chunked')}0\r\n\r\n${HIDDEN}`,
    'two lengths': `${head('Content-Length: 0', `Content-Length: ${HIDDEN.length}`)}${HIDDEN}`,
    'a list of lengths': `${head(`Content-Length: 0, ${HIDDEN.length}`)}${HIDDEN}`,
    'a signed length': `${head('Content-Length: +0')}${HIDDEN}`,
    'a negative length': `${head('Content-Length: -1')}${HIDDEN}`,
    'a hexadecimal length': `${head('Content-Length: 0x10')}${HIDDEN}`,
    'a length with a blank': `${head('Content-Length : 0')}${HIDDEN}`,
    'encoding with a blank': `${head('Transfer-Encoding : chunked', 'Content-Length: 5')}0\r\n\r\n${HIDDEN}`,
    'encoding with a tab': `${head('Transfer-Encoding:\tchunked', 'Content-Length: 5')}0\r\n\r\n${HIDDEN}`,
    'encoding twice': `${head('Transfer-Encoding: chunked', 'Transfer-Encoding: identity')}0\r\n\r\n${HIDDEN}`,
    'an encoding of ours': `${head('Transfer-Encoding: xchunked')}0\r\n\r\n${HIDDEN}`,
    'a folded header': `${head('X: y', ' Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n${HIDDEN}`,
    'a chunk that lies': `${head('Transfer-Encoding: chunked')}5;x\n\r\n0\r\n\r\n${HIDDEN}`,
    'a chunk too large': `${head('Transfer-Encoding: chunked')}FFFFFFFFFFFFFFFFF\r\n${HIDDEN}`,
    'line feeds alone': `${head().replaceAll('\r', '')}${HIDDEN}`,
    'a carriage return alone': `GET /api/health HTTP/1.1\r\nHost: x\rX: y\r\n\r\n${HIDDEN}`,
    'a NUL in a header': `GET /api/health HTTP/1.1\r\nHost: x\0y\r\n\r\n${HIDDEN}`,
    'a header without a name': `GET /api/health HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n${HIDDEN}`,
    'no host': `GET /api/health HTTP/1.1\r\n\r\n${HIDDEN}`,
    'two hosts': `GET /api/health HTTP/1.1\r\nHost: x\r\nHost: y\r\nContent-Length: 1\r\n\r\n`,
    'a line as a method': `GET /api/health\r\nX: HTTP/1.1\r\nHost: x\r\n\r\n${HIDDEN}`,
    'HTTP/0.9': `GET /api/health\r\n${HIDDEN}`,
    'HTTP/2 by prior knowledge': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a tunnel': `CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n${HIDDEN}`,
    TLS: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  };
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
    exchange(['GET /api/keys HTTP/1.1', 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n'));
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
