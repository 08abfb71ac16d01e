import t from 'tap';
import {
  MAX_TRIES,
  messageData,
  newWebhookSecret,
  openSecretBox,
  retryMs,
  SEND_TIMEOUT_MS,
  signedHeaders,
} from '../src/index.ts';

t.test('attempts: 5 s, 1, 5 and 30 min, 2, 5, 10, 14, 20 and 20 h apart, a tenth more or less', (t) => {
  const pauses = (random: number) => {
    const found: number[] = [];
    for (let tries = 1; ; tries++) {
      const pause = retryMs(tries, 0, () => random);
      if (pause === null) return found;
      found.push(pause);
    }
  };
  const minutes = [5 / 60, 1, 5, 30, 120, 300, 600, 840, 1_200, 1_200];
  for (const [random, factor] of [
    [0, 0.9],
    [0.5, 1],
    [1, 1.1],
  ] as const)
    t.same(
      pauses(random),
      minutes.map((pause) => Math.round(pause * 60_000 * factor)),
    );
  t.equal(MAX_TRIES, 11);
  t.equal(SEND_TIMEOUT_MS, 15_000);
  t.equal(
    retryMs(2, 30_000, () => 0.5),
    60_000,
    'a receiver that asks for less gets no message sooner',
  );
  const drawn = new Set(Array.from({ length: 20 }, () => retryMs(1)));
  t.ok(drawn.size > 1, 'each is drawn');
  t.end();
});

t.test('a signature is that of Standard Webhooks, of whole seconds and of each secret in turn', (t) => {
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    sentAt: new Date(1_614_265_330_999),
    body: '{"test": 2432232314}',
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const one = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  t.same(signedHeaders(message, [secret]), {
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': one,
  });
  t.equal(signedHeaders(message, [secret, secret])['webhook-signature'], `${one} ${one}`);
  t.end();
});

t.test('a new secret is 32 random bytes in base64 after its prefix', (t) => {
  const made = Array.from({ length: 3 }, newWebhookSecret);
  for (const secret of made) t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  t.equal(new Set(made).size, 3);
  t.end();
});

t.test('the data of each kind of message says where to read more, and ids stay one part of a path', (t) => {
  const at = 'https://polls.example.com';
  for (const [type, data, more] of [
    [
      'poll.completed',
      { session_id: 'ps_1' },
      { status_url: '/api/polls/ps_1/status', result_url: '/api/polls/ps_1/result' },
    ],
    [
      'batch.completed',
      { batch_id: 'a/b' },
      { status_url: '/api/batches/a%2Fb', results_url: '/api/batches/a%2Fb/results' },
    ],
    ['balance.low', { balance_cents: 7 }, { funds_url: '/dashboard#funds' }],
    ['key.limit_reached', { key_id: 'k' }, { keys_url: '/dashboard/keys' }],
    ['endpoint.disabled', { endpoint_id: 'we_1' }, { endpoint_url: '/dashboard/webhooks/we_1' }],
    ['test', { text: 'hello' }, {}],
  ] as const) {
    const urls = Object.fromEntries(Object.entries(more).map(([name, path]) => [name, at + path]));
    t.same(messageData(at, type, data), { ...data, ...urls }, type);
  }
  t.end();
});

t.test('what was not sealed by a known key and in this form does not open', (t) => {
  const box = openSecretBox(['a sealing key of at least 32 characters.']);
  const sealed = box.seal('secret', 'we_1');
  t.match(sealed, /^v1\.[\w-]{8}\.[\w-]{46}$/);
  t.equal(box.open(sealed, 'we_1'), 'secret');
  t.throws(() => box.open(sealed.replace('v1', 'v2'), 'we_1'), /not configured/);
  t.throws(() => box.open(sealed.split('.').slice(0, 2).join('.'), 'we_1'));
  t.throws(() => box.open(`v1..${sealed.split('.')[2]}`, 'we_1'), /not configured/);
  t.throws(() => openSecretBox([]), /at least one/);
  t.end();
});

t.test('what an earlier version sealed opens: the form at rest stays', (t) => {
  const box = openSecretBox(['a newer key of at least 32 characters.', 'a sealing key of at least 32 characters.']);
  const sealed = 'v1.H-Xs_W2b.tkpHrcSb0I3yCfSxxsCZ5oscNnYFRlSRHaPD_lZ48aKBTqzZOytccy3s';
  t.equal(box.open(sealed, 'we_1'), 'whsec_c2VjcmV0');
  t.equal(box.open(box.seal('ключ', 'we_1'), 'we_1'), 'ключ', 'of any characters');
  t.end();
});
