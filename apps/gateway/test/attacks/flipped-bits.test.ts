import { randomUUID } from 'node:crypto';
import { delivery, fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import t from 'tap';
import { newApiKey } from '../../src/accounts/keys/api-key.ts';
import { sealer } from '../../src/accounts/login/login-cookie.ts';
import { principalOfKey } from '../../src/accounts/principal.ts';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { stripeProcessor } from '../../src/payments/card/processor.ts';
import { build } from '../fixtures/build.ts';
import { times } from './full-scale.ts';

// Every bit of a thing that was sealed, signed or summed, turned over one by one: nothing of it is taken.

/** Every text that is one bit away. */
function* flips(text: string): Generator<string> {
  const bytes = Buffer.from(text, 'latin1');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    yield bytes.toString('latin1');
    bytes[bit >> 3]! ^= 1 << (bit & 7);
  }
}

const samples = times(1, 100);

t.test('[§5-cookie-encrypted] cookies', async (t) => {
  const { seal, open } = sealer(['a secret of at least 32 characters long']);
  const bytesOf = (cookie: string) => Buffer.concat(cookie.split('.').map((part) => Buffer.from(part, 'base64url')));
  let accepted = 0;
  let tried = 0;
  for (let i = 0; i < samples; i++) {
    const cookie = await seal(randomUUID());
    for (const forged of flips(cookie)) {
      tried += 1;
      // The last character of a part has bits that no byte is made of: the same bytes are the same cookie.
      if ((await open(forged)) !== null && Buffer.compare(bytesOf(forged), bytesOf(cookie)) !== 0) accepted += 1;
    }
  }
  t.comment(`${accepted} of ${tried} accepted`);
  t.equal(accepted, 0);
});

t.test('[§A6-stripe-webhook] webhooks, body and signature', async (t) => {
  const stripe = await fakeStripe(t);
  const { verifyEvent } = stripeProcessor(stripe.settings, 'https://polls.example');
  let accepted = 0;
  let tried = 0;
  const opens = (body: string, signature: string) =>
    verifyEvent(Buffer.from(body, 'latin1'), signature).then(
      () => true,
      () => false,
    );
  for (let i = 0; i < samples; i++) {
    const { payload, headers } = delivery(
      stripe.event('charge.refunded', { object: 'charge', payment_intent: `pi_${i}` }),
    );
    const signature = headers['stripe-signature'];
    t.ok(await opens(payload, signature));
    for (const forged of flips(payload)) {
      tried += 1;
      if (await opens(forged, signature)) accepted += 1;
    }
    const mac = signature.indexOf('v1=') + 3;
    for (const forged of flips(signature)) {
      tried += 1;
      if (
        (await opens(payload, forged)) &&
        forged.slice(mac, mac + 64).toLowerCase() !== signature.slice(mac, mac + 64)
      )
        accepted += 1;
    }
  }
  t.comment(`${accepted} of ${tried} accepted`);
  t.equal(accepted, 0);
});

t.test('[§A6-bad-bearer-401] keys', async (t) => {
  const { context, keyWith } = await build(t, { rateLimits: readPolicies('failed_authentication=999999999/60') });
  let accepted = 0;
  let tried = 0;
  for (let i = 0; i < samples; i++) {
    const { key } = await keyWith(0);
    for (const forged of flips(key)) {
      tried += 1;
      if (await principalOfKey(context, forged, '192.0.2.1')) accepted += 1;
    }
  }
  for (let i = 0; i < times(2, 20_000); i++) {
    tried += 1;
    // With a checksum that fits, as who knows the form would guess.
    if (await principalOfKey(context, newApiKey(), '192.0.2.1')) accepted += 1;
  }
  t.comment(`${accepted} of ${tried} accepted`);
  t.equal(accepted, 0);
});
