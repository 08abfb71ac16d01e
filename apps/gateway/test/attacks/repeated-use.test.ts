import { balanceOf, checkLedger, createAccount } from '@eloquentpoll/storage';
import { delivery, fakeStripe, type StripeEvent } from '@eloquentpoll/testkit/fakes/stripe';
import { randomBelow } from '@eloquentpoll/testkit/seed';
import { Wallet } from 'ethers';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build } from '../fixtures/build.ts';
import { replicaOf } from '../fixtures/replica.ts';
import { walletOwner } from '../fixtures/wallet-owner.ts';
import { times } from './full-scale.ts';

// slow: 3 s

// What counts once counts once, however many ask at once, in whatever order, and at whichever replica.

const rateLimits = readPolicies(
  ['login', 'checkout', 'checkout_network', 'webhook', 'account', 'key_issue', 'failed_authentication', 'read']
    .map((name) => `${name}=1000000/60`)
    .join(),
);

t.test('[§4.5-verify-401] a signature opens once, of a hundred at once on two replicas', async (t) => {
  const gateway = await build(t, { rateLimits });
  const other = await replicaOf(t, gateway.context);
  const owner = walletOwner(gateway, Wallet.createRandom());
  const rounds = times(1, 1_000);
  let opened = 0;
  for (let round = 0; round < rounds; round++) {
    const payload = await owner.proof();
    const uses = Array.from({ length: 100 }, (_, i) =>
      (i % 2 === 0 ? gateway.app : other.app).inject({ method: 'POST', url: '/api/wallet/verify', payload }),
    );
    const good = (await Promise.all(uses)).filter(({ statusCode }) => statusCode === 200).length;
    if (good !== 1) t.fail(`round ${round}: ${good} of 100`);
    opened += good;
  }
  t.equal(opened, rounds);
});

t.test('[§5-rule-revoked, §A6-api-key-revoked-everywhere] a key that was revoked here is refused there', async (t) => {
  const gateway = await build(t, { rateLimits });
  const other = await replicaOf(t, gateway.context);
  const { bearer } = await gateway.keyWith(0);
  let accepted = 0;
  const rounds = times(12, 10_000);
  for (let round = 0; round < rounds; round++) {
    const answer = await gateway.app.inject({ method: 'POST', url: '/api/keys', headers: bearer });
    if (answer.statusCode !== 201) {
      t.fail(`round ${round}: no key was made: ${answer.body}`);
      return;
    }
    const made = answer.json();
    const use = { url: '/api/keys', headers: { authorization: `Bearer ${made.key}` } };
    // The other replica has just learned that it is good.
    const { statusCode } = await other.app.inject(use);
    if (statusCode !== 200) {
      t.fail(`round ${round}: it is not good yet, but answered ${statusCode}`);
      return;
    }
    await gateway.app.inject({ method: 'DELETE', url: `/api/keys/${made.id}`, headers: bearer });
    if ((await other.app.inject(use)).statusCode !== 401) accepted += 1;
  }
  t.equal(accepted, 0, `of ${rounds}`);
});

t.test('[§4.5-checkout-credits] events in any order, again and again, on two replicas: one credit each', async (t) => {
  const stripe = await fakeStripe(t);
  const gateway = await build(t, { checkout: stripe.settings, rateLimits });
  const replicas = [gateway.app, (await replicaOf(t, gateway.context)).app];
  const { storage } = gateway.context;
  const payments = times(3, 50);
  const repeats = times(6, 100);
  const accounts: string[] = [];
  const events: StripeEvent[] = [];
  for (let i = 0; i < payments; i++) {
    const accountId = await createAccount(storage);
    accounts.push(accountId);
    const headers = await gateway.sessionFor(accountId);
    const page = await gateway.app.inject({
      method: 'POST',
      url: '/api/checkout',
      headers,
      payload: { amount_cents: 500 + i },
    });
    const session = stripe.sessions.get(page.json().url.split('/').at(-1))!;
    events.push(stripe.complete(session, { paid: false }), stripe.confirm(session));
  }
  const deliveries = shuffled(events.flatMap((event) => Array.from({ length: repeats }, () => event)));
  for (let i = 0; i < deliveries.length; i += 50) {
    const some = deliveries.slice(i, i + 50);
    const answers = await Promise.all(some.map((event, n) => replicas[n % 2]!.inject(delivery(event))));
    const odd = answers.filter(({ statusCode }) => statusCode !== 200);
    if (odd.length > 0) t.fail(`${odd.length} deliveries: ${odd[0]!.statusCode} ${odd[0]!.body}`);
  }
  const credited = await Promise.all(
    accounts.map(async (id) => Number((await balanceOf(storage, id))!.postedU / 10_000n)),
  );
  t.same(
    credited,
    accounts.map((_, i) => 500 + i),
    `${deliveries.length} deliveries`,
  );
  t.same(await checkLedger(storage), []);
});

function shuffled<T>(items: readonly T[]): T[] {
  const mixed = [...items];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = randomBelow(i + 1);
    [mixed[i], mixed[j]] = [mixed[j]!, mixed[i]!];
  }
  return mixed;
}
