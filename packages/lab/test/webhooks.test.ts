import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { openStores } from '../src/fixture/stores.ts';
import { sendToHostile } from '../src/webhooks/send-to-hostile.ts';

// slow: 9 s

// A short version; `npm run attack -- --only webhooks` has the long one.

const PLAN = {
  webhooks: 160,
  accounts: 3,
  perSecond: 80,
  timeoutMs: 4_000,
  slowMs: 1_000,
  downMs: 1_000,
  lost: 0,
  withinMs: 20_000,
};

/** A machine may stand still for a while in a run of seconds. */
const MAX_P95_MS = process.env.ATTACKS === 'full' ? 5_000 : 10_000;

t.test(
  'slow, dead, redirecting, inside and gone receivers delay no healthy one, and nothing goes inside',
  async (t) => {
    const servers = { databaseUrl: requireEnv('TEST_DATABASE_URL'), redisUrl: requireEnv('TEST_REDIS_URL') };
    await using stores = await openStores(servers);
    const { healthy, recovered, goneDisabled, byOutcome, trapped, ledInside, otherAddresses } = await sendToHostile(
      stores,
      PLAN,
      {
        show() {},
      },
    );
    t.comment(JSON.stringify({ healthy, recovered, byOutcome }));
    t.equal(healthy.delivered, healthy.due);
    t.equal(recovered.delivered, recovered.due);
    t.ok(healthy.p95Ms <= MAX_P95_MS, `p95 ${healthy.p95Ms} ms`);
    t.ok(ledInside > 0, `${ledInside} times a name led inside`);
    t.equal(trapped, 0);
    t.same(otherAddresses, []);
    t.equal(goneDisabled.disabled, goneDisabled.due);
    for (const kind of ['silent', 'dead', 'redirecting', 'inside'])
      t.equal(byOutcome[`${kind} delivered`], undefined, kind);
  },
);
