import { createHmac } from 'node:crypto';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { verifyWebhook } from '../src/eloquentpoll.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = JSON.stringify({
  type: 'poll.completed',
  timestamp: '2026-11-20T10:00:00Z',
  data: { session_id: 'ps_ü' },
});
const SECONDS = 1_795_000_000;
const now = SECONDS * 1_000;

const signature = (body: string, { secret = SECRET, id = 'msg_1', time = SECONDS } = {}): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(`${id}.${time}.${body}`)
    .digest('base64')}`;

const headers = (given: Partial<Record<'id' | 'timestamp' | 'signature', string>> = {}) => ({
  'Webhook-Id': given.id ?? 'msg_1',
  'Webhook-Timestamp': given.timestamp ?? String(SECONDS),
  'Webhook-Signature': given.signature ?? signature(BODY),
});

t.test('a delivery of the service is read, as text and bytes, with any of its secrets and signatures', async (t) => {
  const event = JSON.parse(BODY);
  t.same(await verifyWebhook(BODY, headers(), SECRET, { now }), event);
  t.same(await verifyWebhook(Buffer.from(BODY), new Headers(headers()), [OTHER, SECRET], { now }), event);
  const rotated = `v1a,xyz v1,not-base64! ${signature(BODY, { secret: OTHER })} ${signature(BODY)}`;
  t.same(await verifyWebhook(BODY, headers({ signature: rotated }), SECRET, { now }), event);
  t.same(await verifyWebhook(BODY, headers(), SECRET, { now: now + 299_000 }), event);
});

t.test('the example of the Standard Webhooks specification verifies', async (t) => {
  const example = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const at = { now: 1_614_265_330_000 };
  // It is no event of ours, so that it gets no further than its type.
  await t.rejects(verifyWebhook('{"test": 2432232314}', example, secret, at), { message: /not an event/ });
});

t.test('anything else is refused', async (t) => {
  const refused = (body: string, given: Record<string, string>, secret: string, at = now) =>
    t.rejects(verifyWebhook(body, given, secret, { now: at }), { code: 'bad_webhook' });
  await refused(BODY, headers(), OTHER);
  await refused(`${BODY} `, headers(), SECRET);
  await refused(BODY, headers({ id: 'msg_2' }), SECRET);
  await refused(BODY, headers({ timestamp: String(SECONDS + 1) }), SECRET);
  for (const at of [now + 301_000, now - 301_000]) await refused(BODY, headers(), SECRET, at);
  for (const timestamp of ['', 'soon', '-1', '1e9', `${SECONDS}.0`])
    await refused(BODY, headers({ timestamp }), SECRET);
  for (const signatures of ['', 'v1,', signature(BODY).replace('v1', 'v2'), signature(BODY).slice(3)])
    await refused(BODY, headers({ signature: signatures }), SECRET);
  await refused(BODY, {}, SECRET);
  for (const secret of ['', 'whsec_', 'whsec_%%%']) await refused(BODY, headers(), secret);
  const old = { now: now + 10 ** 9, toleranceSeconds: Number('5 minutes') };
  await t.rejects(verifyWebhook(BODY, headers(), SECRET, old), { code: 'bad_webhook' }, 'no tolerance accepts nothing');
  // Mistakes of programs without types.
  await refused(BODY, headers(), JSON.parse('null'));
  await t.rejects(verifyWebhook(JSON.parse(BODY), headers(), SECRET, { now }), { message: /before it is parsed/ });
});

t.test('a changed bit of body or signature is noticed', async (t) => {
  const bytes = Buffer.from(BODY);
  const mac = Buffer.from(signature(BODY).slice(3), 'base64');
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length + mac.length - 1), fc.nat(7), async (at, bit) => {
      const body = Buffer.from(bytes);
      const other = Buffer.from(mac);
      if (at < body.length) body[at]! ^= 1 << bit;
      else other[at - body.length]! ^= 1 << bit;
      const changed = headers({ signature: `v1,${other.toString('base64')}` });
      await t.rejects(verifyWebhook(body, changed, SECRET, { now }), { code: 'bad_webhook' });
    }),
    { numRuns: 50 },
  );
});
