import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from 'node:net';
import { TLSSocket } from 'node:tls';
import { testCertificate } from '@eloquentpoll/testkit/tls-certificate';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import {
  messageSender,
  newWebhookSecret,
  openSecretBox,
  type ReceiverRules,
  receiverRules,
  retryMs,
  signedHeaders,
} from '../src/index.ts';
import { type Answer, certificate, receiver } from './receivers.ts';

const ok: Answer = (response) => void response.end('thanks');
const body = '{"type":"poll.completed"}';
const never = new AbortController().signal;

/** Any port, and 127.0.0.1 counts as public; everything else is as it is. */
const rules: ReceiverRules = {
  ...receiverRules({ toLoopback: false }),
  allowsAddress: (address) => address === '127.0.0.1',
  allowsPort: () => true,
};

const sender = (answers: readonly string[] | (() => readonly string[]) = ['127.0.0.1'], timeoutMs = 5_000) =>
  messageSender({
    rules,
    resolve: async () => (typeof answers === 'function' ? answers() : answers),
    ca: certificate.cert,
    timeoutMs,
  });

const post = (send = sender(), port = 0, host = 'good.example.com') =>
  send({ url: `https://${host}:${port}/hooks?x=1`, headers: { 'webhook-id': 'msg_1' }, body }, never);

t.test('a message arrives as it was signed, and the standard library verifies it with either secret', async (t) => {
  const { port, received } = await receiver(t, ok);
  const [now, before, other] = [newWebhookSecret(), newWebhookSecret(), newWebhookSecret()];
  const headers = signedHeaders({ id: 'msg_1', sentAt: new Date(), body }, [now, before]);
  const sent = await sender()({ url: `https://good.example.com:${port}/hooks`, headers, body }, never);
  t.match(sent, { status: 200, error: null });
  const [message] = received;
  t.match(message, {
    method: 'POST',
    path: '/hooks',
    headers: {
      ...{ 'content-type': 'application/json', 'content-length': String(body.length) },
      ...{ 'user-agent': /^EloquentPoll-Webhooks\//, connection: 'close', host: `good.example.com:${port}` },
    },
  });
  const given = message!.headers as Record<string, string>;
  for (const secret of [now, before]) t.same(new Webhook(secret).verify(message!.body, given), JSON.parse(body));
  t.throws(() => new Webhook(other).verify(message!.body, given), /signature/i);
  t.throws(() => new Webhook(now).verify(`${message!.body} `, given), /signature/i, 'a changed body');
  t.throws(() => new Webhook(now).verify(message!.body, { ...given, 'webhook-id': 'msg_2' }), /signature/i);
  const late = signedHeaders({ id: 'msg_1', sentAt: new Date(Date.now() - 600_000), body }, [now]);
  t.throws(() => new Webhook(now).verify(body, late), /old/i, 'a repeated one');
});

t.test('an answer that is no 2xx is known by its status; a redirect is not followed', async (t) => {
  const inside = await receiver(t, ok);
  const { port, received } = await receiver(t, (response, { path }) => {
    const status = Number(path.slice(1));
    response.writeHead(status, { location: `https://good.example.com:${inside.port}/`, 'retry-after': '120' }).end();
  });
  const send = sender();
  for (const status of [204, 301, 302, 307, 308, 404, 410, 500]) {
    const url = `https://good.example.com:${port}/${status}`;
    t.match(await send({ url, headers: {}, body }, never), { status, error: null, retryAfterMs: 120_000 });
  }
  t.equal(received.length, 8);
  t.equal(inside.connections(), 0);
});

t.test(
  'a receiver asks for a pause in whole seconds, of six digits at most; anything else asks for none',
  async (t) => {
    const { port } = await receiver(t, (response, { path }) => {
      const pause = decodeURIComponent(path.slice(1));
      response.writeHead(503, pause === '' ? {} : { 'retry-after': pause }).end();
    });
    const send = sender();
    for (const [pause, retryAfterMs] of [
      ['', 0],
      ['0', 0],
      ['7', 7_000],
      ['999999', 999_999_000],
      ['1000000', 0],
      ['1.5', 0],
      ['-5', 0],
      ['Wed, 21 Oct 2026 07:28:00 GMT', 0],
    ] as const) {
      const url = `https://good.example.com:${port}/${encodeURIComponent(pause)}`;
      t.match(await send({ url, headers: {}, body }, never), { status: 503, retryAfterMs }, pause);
    }
  },
);

t.test(
  'an address that may not be sent to is not even looked up; a name without addresses is known as such',
  async (t) => {
    const open = await receiver(t, ok, { tls: false });
    let asked = 0;
    const counting = sender(() => {
      asked += 1;
      return ['127.0.0.1'];
    });
    const failed = { status: null, retryAfterMs: 0 };
    for (const url of [
      `http://good.example.com:${open.port}/`,
      `https://ada@good.example.com:${open.port}/`,
      'nonsense',
    ])
      t.match(await counting({ url, headers: {}, body }, never), { ...failed, error: 'address_refused' }, url);
    t.same([asked, open.connections()], [0, 0]);
    const unknown = messageSender({ rules, resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    t.match(await post(unknown), { ...failed, error: 'name_not_resolved' });
  },
);

t.test('to this machine, where that is allowed, messages go without TLS', async (t) => {
  const { port, received } = await receiver(t, ok, { tls: false });
  const send = messageSender({ rules: receiverRules({ toLoopback: true }) });
  for (const host of ['127.0.0.1', 'localhost'])
    t.match(await send({ url: `http://${host}:${port}/x`, headers: {}, body }, never), { status: 200, error: null });
  t.match(received, [{ method: 'POST', path: '/x', body }, { body }]);
});

t.test('what an attempt took is in whole milliseconds, whether or not it was answered', async (t) => {
  const { port } = await receiver(t, ok);
  for (const send of [sender(), sender(['127.0.0.2'])]) {
    const began = performance.now();
    const { tookMs } = await post(send, port);
    t.ok(Number.isInteger(tookMs) && tookMs >= 0 && tookMs <= Math.ceil(performance.now() - began), `${tookMs} ms`);
  }
});

t.test('TLS sessions are resumed, each message on a connection of its own', async (t) => {
  const resumed: boolean[] = [];
  const { port, connections } = await receiver(t, (response) => {
    resumed.push(response.socket instanceof TLSSocket && response.socket.isSessionReused());
    response.end('thanks');
  });
  const send = sender();
  for (let i = 0; i < 2; i++) t.match(await post(send, port), { status: 200 });
  t.same(resumed, [false, true]);
  t.equal(connections(), 2);
});

t.test('also where a connection takes one address alone', async (t) => {
  const { port } = await receiver(t, ok);
  const before = getDefaultAutoSelectFamily();
  t.teardown(() => setDefaultAutoSelectFamily(before));
  setDefaultAutoSelectFamily(false);
  t.match(await post(undefined, port), { status: 200, error: null });
});

t.test('an attempt whose worker is leaving ends at once', async (t) => {
  const slowNames = messageSender({ rules, resolve: () => new Promise(() => {}), timeoutMs: 60_000 });
  const message = { url: 'https://good.example.com/', headers: {}, body };
  t.match(await slowNames(message, AbortSignal.abort()), { status: null, error: 'timed_out' }, 'it left before');
  const leaving = new AbortController();
  const silent = await receiver(t, () => leaving.abort());
  const url = `https://good.example.com:${silent.port}/`;
  t.match(await sender(undefined, 60_000)({ ...message, url }, leaving.signal), { status: null, error: 'timed_out' });
});

t.test('a small answer is taken to its end, of an endless one little more than is kept in buffers', async (t) => {
  let ended: Promise<boolean> | undefined;
  const small = await receiver(t, (response) => {
    ended = new Promise((resolve) => response.on('close', () => resolve(response.writableFinished)));
    response.write('one');
    setTimeout(() => response.end('two'), 20);
  });
  t.match(await post(undefined, small.port), { status: 200 });
  t.equal(await ended, true);
  let taken = 0;
  let cut: Promise<void> | undefined;
  const endless = await receiver(t, (response) => {
    const chunk = Buffer.alloc(65_536, 'x');
    const write = () => {
      if (response.destroyed) return;
      response.write(chunk, (error) => {
        if (!error) taken += chunk.length;
        write();
      });
    };
    cut = new Promise((resolve) => response.on('close', resolve));
    write();
  });
  t.match(await post(undefined, endless.port), { status: 200 });
  await cut;
  t.ok(taken <= 16 * 1_048_576, `${taken} bytes`);
});

t.test('time and size are bounded, whatever the receiver does', async (t) => {
  const silent = await receiver(t, () => {});
  t.match(await post(sender(undefined, 300), silent.port), { status: null, error: 'timed_out' });
  const headersOnly = await receiver(t, (response) => void response.writeHead(200).write('and then nothing'));
  const began = performance.now();
  t.match(await post(sender(undefined, 60_000), headersOnly.port), { status: 200 });
  t.ok(performance.now() - began < 30_000, 'the status is enough');
  const huge = await receiver(t, (response) => {
    const chunk = Buffer.alloc(65_536, 'x');
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', write);
    };
    response.on('close', () => t.pass('it was cut off'));
    response.writeHead(200);
    write();
  });
  t.match(await post(undefined, huge.port), { status: 200 });
  const wide = await receiver(t, (response) => void response.writeHead(200, { 'x-wide': 'x'.repeat(20_000) }).end());
  t.match(await post(undefined, wide.port), { status: null, error: 'bad_answer' });
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  const upgrading = await receiver(t, (response) => void response.socket?.write(upgrade));
  t.match(await post(sender(undefined, 1_000), upgrading.port), { status: 101, error: null });
  const early = await receiver(t, (response) => response.writeEarlyHints({ link: '</a>; rel=preload' }));
  t.match(await post(sender(undefined, 300), early.port), { status: null, error: 'timed_out' });
  const endless = await receiver(t, ({ socket }) => {
    socket?.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket?.write('x'), 20);
    socket?.on('close', () => clearInterval(timer));
  });
  t.match(await post(sender(undefined, 300), endless.port), { status: null, error: 'timed_out' });
  const gone = await receiver(t, (response) => void response.destroy());
  t.match(await post(undefined, gone.port), { status: null, error: 'connection_failed' });
  t.match(await post(sender(undefined, 300), 1), { error: 'connection_failed' });
  const slowNames = messageSender({ rules, resolve: () => new Promise(() => {}), timeoutMs: 200 });
  t.match(await post(slowNames, 1), { status: null, error: 'timed_out' });
});

t.test('a certificate of another name, or of an unknown authority, gets no message', async (t) => {
  const { port, received } = await receiver(t, ok, { cert: testCertificate(['good.example.com']) });
  t.match(await post(undefined, port), { status: null, error: 'tls_failed' }, 'unknown authority');
  const other = await receiver(t, ok);
  t.match(await post(undefined, other.port, 'other.example.net'), { status: null, error: 'tls_failed' }, 'other name');
  t.same([received.length, other.received.length], [0, 0]);
});

t.test('certificates are checked also where the environment turns that off', async (t) => {
  t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const { port, received } = await receiver(t, ok, { cert: testCertificate(['good.example.com']) });
  t.match(await post(undefined, port), { status: null, error: 'tls_failed' });
  t.equal(received.length, 0);
});

t.test('a name that leads inside is not connected to, also when it does so only at times', async (t: Test) => {
  const trap = await receiver(t, ok, { host: '127.0.0.2' });
  const good = await receiver(t, ok);
  for (const answers of [
    ['127.0.0.2'],
    ['127.0.0.1', '127.0.0.2'],
    ['::1'],
    ['::ffff:127.0.0.2'],
    ['64:ff9b::7f00:2'],
    ['10.0.0.1'],
    ['169.254.169.254'],
    ['fd00:ec2::254'],
  ])
    t.match(await post(sender(answers), trap.port), { status: null, error: 'address_refused' }, answers.join(' '));
  t.equal(trap.connections(), 0);

  let asked = 0;
  const rebinding = sender(() => [asked++ === 0 ? '127.0.0.1' : '127.0.0.2']);
  t.match(await post(rebinding, good.port), { status: 200 }, 'the answer that was checked is the one that is used');
  t.equal(asked, 1);
  t.match(await post(rebinding, trap.port), { error: 'address_refused' });
  t.equal(trap.connections(), 0);
  t.match(await post(sender([]), good.port), { status: null });
});

t.test('sealed secrets open with any key that is known, for their own endpoint alone', (t) => {
  const older = openSecretBox(['an older key of at least 32 characters']);
  const rotated = openSecretBox(['a newer key of at least 32 characters.', 'an older key of at least 32 characters']);
  const secret = newWebhookSecret();
  const sealed = older.seal(secret, 'we_1');
  t.notMatch(sealed, secret.slice(6, 20));
  t.equal(rotated.open(sealed, 'we_1'), secret);
  t.throws(() => rotated.open(sealed, 'we_2'));
  const middle = sealed.length >> 1;
  const changed = sealed[middle] === 'A' ? 'B' : 'A';
  t.throws(() => rotated.open(`${sealed.slice(0, middle)}${changed}${sealed.slice(middle + 1)}`, 'we_1'));
  t.throws(() => older.open(rotated.seal(secret, 'we_1'), 'we_1'), /not configured/);
  t.not(older.seal(secret, 'we_1'), sealed, 'a nonce of its own each time');
  t.end();
});

t.test('attempts are spread over three days', (t) => {
  let sum = 0;
  for (let tries = 1; ; tries++) {
    const pause = retryMs(tries, 0, () => 0.5);
    if (pause === null) break;
    t.ok(pause > 0 && (retryMs(tries, 0, () => 0) ?? 0) < pause);
    sum += pause;
  }
  t.ok(sum > 68 * 3_600_000 && sum < 72 * 3_600_000, `${sum / 3_600_000} h`);
  t.equal(retryMs(1, 60_000), 60_000, 'a receiver may ask for more');
  t.equal(retryMs(1, 1e9), 3_600_000, 'within reason');
  t.end();
});
