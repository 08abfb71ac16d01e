import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import {
  bringModelBack,
  type CanaryTerms,
  claimCanary,
  finishCanary,
  readFailedModels,
  readModelStanding,
  readProviderSpend,
  takeModelOut,
} from '../src/index.ts';
import { type Fixture, open, USD } from './fixtures.ts';

const TERMS: CanaryTerms = {
  models: [
    { modelId: 'm/a', maxU: 100n },
    { modelId: 'm/b', maxU: 300n },
  ],
  everyMs: 3_600_000,
  failedEveryMs: 60_000,
  dayCapU: USD,
};

const due = ({ query }: Fixture) => query("update model_standings set next_at = now() - interval '1 second'");

t.test('each model is due once in its time, however many workers ask', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  t.equal(await claimCanary(storage, TERMS), null, 'the first ones are spread over the time between two');
  await due(fixture);
  const claims = await Promise.all(Array.from({ length: 6 }, () => claimCanary(storage, TERMS)));
  t.same(
    claims
      .map((claim) => claim?.modelId)
      .filter(Boolean)
      .sort(),
    ['m/a', 'm/b'],
  );
  t.same(
    claims
      .map((claim) => claim?.number)
      .filter(Boolean)
      .sort(),
    [1, 2],
  );
  t.equal(await claimCanary(storage, { ...TERMS, models: [] }), null);
});

t.test('what came of tests is counted by day; a model that did not answer has not failed', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  await claimCanary(storage, TERMS);
  const outcome = async (passed: boolean | null) => {
    await due(fixture);
    const claim = (await claimCanary(storage, { ...TERMS, models: TERMS.models.slice(0, 1) }))!;
    await finishCanary(storage, { ...claim, kind: 'known', passed, maxU: 100n, costU: 7n });
  };
  for (const passed of [true, false, null, true]) await outcome(passed);
  t.same(await readModelStanding(storage, 'm/a'), {
    modelId: 'm/a',
    failed: null,
    history: { known: [{ trials: 3, hits: 1 }] },
    recentReturns: 0,
  });
  t.match(await fixture.query('select tests, cost_u::int as cost_u from canary_days'), [{ tests: 4, cost_u: 28 }]);

  t.equal(await takeModelOut(storage, 'm/a', 'known'), true);
  t.equal(await takeModelOut(storage, 'm/a', 'label'), false, 'it is out for one reason');
  t.match(await readFailedModels(storage), [{ modelId: 'm/a', kind: 'known' }]);
  await outcome(true);
  await outcome(false);
  await outcome(true);
  t.match(await readModelStanding(storage, 'm/a'), { failed: { kind: 'known', passes: 1 } });
  t.equal(await bringModelBack(storage, 'm/a'), true);
  t.equal(await bringModelBack(storage, 'm/a'), false);
  const anew = { modelId: 'm/a', failed: null, history: {} };
  t.same(await readModelStanding(storage, 'm/a'), { ...anew, recentReturns: 1 }, 'counted anew');
  await fixture.query('update canary_results set day = day - 31');
  await fixture.query('select prune_expired(100)');
  t.same(await readModelStanding(storage, 'm/a'), { ...anew, recentReturns: 0 }, 'a return of last month is forgotten');
  t.same(await readFailedModels(storage), []);
});

t.test('the cap of a day and the ceiling of provider spend hold; a test that ended costs what it did', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const terms = { ...TERMS, models: TERMS.models.slice(1), dayCapU: 650n };
  await claimCanary(storage, terms);
  const next = async (more: Partial<CanaryTerms> = {}) => {
    await due(fixture);
    return claimCanary(storage, { ...terms, ...more });
  };
  const ceiling = { hourU: 500n, dayU: USD };
  const first = (await next({ ceiling }))!;
  t.match(await readProviderSpend(storage), { hourU: 300n, heldU: 300n });
  t.equal(await next({ ceiling }), null, 'the ceiling');
  await finishCanary(storage, { ...first, kind: 'label', passed: true, maxU: 300n, costU: 20n });
  t.match(await readProviderSpend(storage), { hourU: 20n, heldU: 0n });
  t.ok(await next());
  t.ok(await next());
  t.equal(await next(), null, 'the cap');
  await query('update canary_days set day = day - 1');
  t.ok(await next(), 'the next day');
});

t.test('a test is not made if others use up the ceiling after it was checked', async (t) => {
  const fixture = await open(t, { maxConnections: 4 });
  const { storage, query } = fixture;
  const terms = { ...TERMS, models: TERMS.models.slice(1), ceiling: { hourU: 500n, dayU: USD } };
  await claimCanary(storage, terms);
  await due(fixture);
  const first = (await claimCanary(storage, terms))!;
  await finishCanary(storage, { ...first, kind: 'label', passed: true, maxU: 300n, costU: 0n });
  const days = () => query('select tests, cost_u from canary_days');
  const before = await days();
  await due(fixture);
  await query('begin');
  await query('select from canary_days for update');
  const claim = claimCanary(storage, terms);
  await eventually('the claim waits', async () => {
    const [waiting] = await query<{ n: number }>(
      'select count(*)::int as n from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))',
    );
    return waiting!.n > 0;
  });
  await query('select take_spend(300, 500, 1000000)');
  await query('commit');
  t.equal(await claim, null);
  t.same(await days(), before);
  t.match(await readProviderSpend(storage), { hourU: 300n, heldU: 300n });
});
