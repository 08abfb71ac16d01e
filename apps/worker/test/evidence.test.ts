import type { Vote } from '@eloquentpoll/contracts';
import { pollIdsOfMonth } from '@eloquentpoll/polls';
import { createAccount, newestModelEvidence, openStorage, recentVotes, withLock } from '@eloquentpoll/storage';
import { asOwner, testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { evidenceOf, NO_EVIDENCE } from '../src/evidence/evidence.ts';
import { keepEvidence, learnDaily } from '../src/evidence/keep-evidence.ts';

// slow: 4 s

// What the votes of many polls say about models, from rows as polls and audits leave them.

const MONTH = pollIdsOfMonth(new Date());
const MODELS = ['sim/strong', 'sim/good', 'sim/fair', 'sim/weak'];
const DAY = '2026-11-22';
const silent = { info() {}, warn() {} };
const QUIET = { simulated: true, log: silent };
const VOTES = { simulated: true, days: 30, limit: 4_000, ofOneTenant: 400 };

async function bench(t: Test) {
  const url = await testDatabase(t);
  const storage = openStorage({ databaseUrl: url, maxConnections: 4 });
  const owner = (statement: string) => asOwner(url, statement);
  t.teardown(() => storage[Symbol.asyncDispose]());
  const accountId = await createAccount(storage);

  /** Ended polls: the strong model is right nearly always, each later one less often; the right option is i % 2. */
  const plant = (
    from: number,
    to: number,
    { tenant = 'a', age = '1 hour', simulated = true, status = 'success', panel = 'broad' } = {},
  ) =>
    owner(`
      with n as (select i, '${MONTH}' || i as id, i % 2 as truth from generate_series(${from}, ${to - 1}) as i),
      p as (insert into polls (id, result_id, account_id, tenant, status, spec, entry_point, lease_until, deadline_at, finished_at)
            select id, 'EP-' || i, '${accountId}', '${tenant}', 'completed', '{"options": ["A", "B", "C"]}', 'poll', now(), now(), now() from n),
      r as (insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, winning_option, is_tie,
              early_terminated, models_requested, models_succeeded, models_failed, models_skipped, total_cost_u, gather_ms, total_ms, detail, created_at)
            select id, 'EP-' || i, '${accountId}', '${status}', '${panel}', 'poll', ${simulated}, case truth when 0 then 'A' else 'B' end, false,
              false, 4, 4, 0, 0, 0, 1, 1, '{}', now() - interval '${age}' - i * interval '1 ms' from n)
      insert into votes (poll_id, seat, model_id, option, latency_ms, billed_u, calls, searched, labels)
      select id, seat, (array['${MODELS.join("','")}', 'sim/rare'])[seat + 1],
             case when hashint8(i * 10 + seat)::bigint % 100 + 100 >= 0 and abs(hashint8(i * 10 + seat)::bigint) % 100 < (array[97, 80, 65, 45, 90])[seat + 1]
                  then truth else (truth + 1 + abs(hashint8(i * 7 + seat)::bigint) % 2) % 3 end,
             1, 0, 1, false, '{}'
        from n, generate_series(0, 4) as seat where seat < 4 or i % 10 = 0`);
  return { storage, owner, accountId, plant };
}

const votes = (...options: (number | null)[]): Vote[] =>
  options.map((option, seat) => ({
    seat,
    model_id: MODELS[seat]!,
    option,
    error: option === null ? 'timeout' : null,
    latency_ms: 1,
    billed_u: 0,
    provider_cost_u: null,
    labels: [],
    calls: 1,
    searched: false,
  }));

t.test('the likelihood of a reading counts votes as the independent ones that they are worth', async (t) => {
  const matrixOf = (agreed: number | null) => [
    [1, agreed],
    [agreed, 1],
  ];
  const likelihoodAt = (agreed: number | null) => {
    const reliabilities = { 'sim/strong': { right: 0.8, votes: 100 }, 'sim/good': { right: 0.8, votes: 100 } };
    const agreement = { models: MODELS.slice(0, 2), matrix: matrixOf(agreed) };
    const learned = { simulated: true, version: DAY, questions: 200, knownAnswers: 0, audits: 100 };
    return evidenceOf({ ...learned, reliabilities, agreement }, true).reading(3, votes(0, 0))!.likelihood;
  };
  t.ok(Math.abs(likelihoodAt(1)! - 0.8) < 1e-9, 'two models that always agree are one vote');
  t.ok(Math.abs(likelihoodAt(0)! - 0.64 / (0.64 + 2 * 0.01)) < 1e-9, 'two that agree by chance are two');
  t.equal(likelihoodAt(null), null, 'not known yet');
});

t.test('reliabilities are learned once a day, by one worker, when there are 200 polls', async (t) => {
  const { storage, plant } = await bench(t);
  await plant(0, 150);
  await learnDaily(storage, QUIET, DAY);
  t.equal(await newestModelEvidence(storage, true), null, '150 polls are too few');
  await plant(150, 300);
  await Promise.all([1, 2, 3].map(() => learnDaily(storage, QUIET, DAY)));
  const learned = await eventually('a version is stored', () => newestModelEvidence(storage, true));
  t.match(learned, { version: DAY, questions: 300, knownAnswers: 0, audits: 0 });
  t.same(Object.keys(learned!.reliabilities).toSorted(), MODELS.toSorted(), 'the one with 30 votes is left out');
  const [strong, good, fair, weak] = MODELS.map((model) => learned!.reliabilities[model]!.right);
  t.ok(strong! > good! && good! > fair! && fair! > weak! && strong! > 0.9, `${strong} ${good} ${fair} ${weak}`);
  t.equal(await newestModelEvidence(storage, false), null, 'real models have a record of their own');

  const evidence = evidenceOf(learned!, true);
  t.match(evidence.reading(3, votes(0, null, 1, 1)), { winner: 0, differs: true, version: DAY }, 'one strong voice');
  t.match(evidence.reading(3, votes(0, 1, null, null)), { winner: 0, differs: true }, 'a tie');
  t.match(evidence.reading(3, votes(1, 1, 1, 0)), { winner: 1, differs: false });
  t.equal(evidence.reading(3, [{ ...votes(0)[0]!, model_id: 'sim/rare' }]), null);
  t.equal(evidenceOf(learned!, false).reading(3, votes(0, null, 1, 1)), null, 'readings are off');
  t.equal(evidence.effectiveVotes(votes(0, 0)), null, 'nothing is audited');

  await plant(300, 320);
  await learnDaily(storage, QUIET, DAY);
  t.equal((await newestModelEvidence(storage, true))!.questions, 300, 'once a day');
  await withLock(storage, 'evidence', 5_000, () => learnDaily(storage, QUIET, '2026-11-23'));
  t.equal((await newestModelEvidence(storage, true))!.version, DAY, 'another worker is at it');
  await learnDaily(storage, QUIET, '2026-11-23');
  t.match(await newestModelEvidence(storage, true), { version: '2026-11-23', questions: 320 });
});

t.test('whose votes teach: recent ones, no tenant alone, no closed account, feedback of the owner', async (t) => {
  const { storage, owner, accountId, plant } = await bench(t);
  await plant(0, 450);
  await plant(1_000, 1_030, { tenant: 'b' });
  await plant(2_000, 2_010, { age: '31 days' });
  await plant(3_000, 3_010, { simulated: false });
  await plant(4_000, 4_010, { status: 'failed' });
  t.equal((await recentVotes(storage, VOTES)).length, 430, '400 of one tenant, 30 of another');
  t.equal((await recentVotes(storage, { ...VOTES, limit: 100 })).length, 100);

  const stranger = await createAccount(storage);
  const say = (account: string, poll: string, correct: boolean) =>
    owner(`insert into feedback (account_id, poll_id, outcome_correct) values ('${account}', '${poll}', ${correct})`);
  await say(accountId, `${MONTH}1000`, true);
  await say(accountId, `${MONTH}1001`, true);
  await say(accountId, `${MONTH}1002`, false);
  await say(stranger, `${MONTH}1003`, true);
  const known = (await recentVotes(storage, VOTES)).filter(({ answer }) => answer !== null);
  t.same(known.map(({ answer }) => answer).toSorted(), [0, 1], 'a wrong one of three says not which is right');
  const rejected = (await recentVotes(storage, VOTES)).filter((poll) => poll.rejected !== null);
  t.match(rejected, [{ answer: null, rejected: Number }], 'but that this one is not');
  await owner(`update polls set spec = '{"options": ["A", "B"]}' where id = '${MONTH}1002'`);
  t.same(
    (await recentVotes(storage, VOTES)).flatMap(({ answer }) => answer ?? []).toSorted(),
    [0, 1, 1],
    'of two it does: A was wrong',
  );
  await owner(`update accounts set deleted_at = now() where id = '${accountId}'`);
  t.equal((await recentVotes(storage, VOTES)).length, 0);
});

t.test('free polls of many networks are at most a fifth of what teaches, and do not crowd out others', async (t) => {
  const { storage, plant } = await bench(t);
  await plant(0, 60);
  for (let network = 0; network < 10; network++) {
    const from = 1_000 * (network + 1);
    await plant(from, from + 40, { tenant: `n${network}`, age: '1 minute', panel: 'free' });
  }
  const wanted = { ...VOTES, limit: 100, ofOneTenant: 60 };
  t.equal((await recentVotes(storage, wanted)).length, 60 + 20);
  const oneNetwork = { ...VOTES, ofOneTenant: 50 };
  t.equal((await recentVotes(storage, oneNetwork)).length, 50 + 10 * 10, 'and a network is a fifth of an account');
});

t.test('effective votes come from audits, for panels of which every pair was heard together 100 times', async (t) => {
  const { storage, owner } = await bench(t);
  await owner(`
    insert into roster_versions (version, panel_name, asking_order, search, simulated, models, families)
    values ('v', 'broad', 'shuffled', false, true, '{sim/strong,sim/good,sim/fair,sim/weak}', '{a,b,c,d}')`);
  const audit = (from: number, to: number, seats: string, row: string) =>
    owner(`
      insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at)
      select 'ps_' || i, 'v', 'shuffled', .95, 3, '${seats}', ${row}, '{}', 0 from generate_series(${from}, ${to - 1}) i`);
  // Two that always agree, and one that votes on its own; the order in which they were heard is not that of the panel.
  await audit(0, 99, '{2,0,1}', 'array[i % 3, (i / 3) % 3, (i / 3) % 3]');
  await learnDaily(storage, QUIET, DAY);
  t.equal(await newestModelEvidence(storage, true), null, '99 audits are too few');
  await audit(99, 180, '{2,0,1}', 'array[i % 3, (i / 3) % 3, (i / 3) % 3]');
  await learnDaily(storage, QUIET, DAY);
  const evidence = evidenceOf((await newestModelEvidence(storage, true))!, true);
  t.equal(evidence.effectiveVotes(votes(0, 0)), 1, 'copies are one voice');
  const three = evidence.effectiveVotes(votes(0, 0, 1))!;
  t.ok(three > 1.7 && three < 1.9, `${three}: their average correlation is a third`);
  t.equal(evidence.effectiveVotes(votes(0, null, null, 1)), null, 'the fourth was never heard');
  t.equal(evidence.effectiveVotes(votes(0, null)), 1, 'one voice is one');
  t.equal(evidence.reading(3, votes(0, 0)), null, 'audits alone make no reading');
});

t.test('polls that were asked cheapest first teach only by their whole audits', async (t) => {
  const { storage, owner, plant } = await bench(t);
  await plant(0, 250);
  await owner(`update polls set spec = spec || '{"track_record": {"order": "cheapest"}}' where id >= '${MONTH}1'`);
  const left = (await recentVotes(storage, VOTES)).length;
  t.ok(left > 0 && left < 200, `${left}`);
  await owner(`
    insert into roster_versions (version, panel_name, asking_order, search, simulated, models, families)
    values ('v', 'broad', 'cheapest', false, true, '{sim/strong,sim/good,sim/fair,sim/weak}', '{a,b,c,d}')`);
  await owner(`
    insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at)
    select 'ps_' || i, 'v', case when i % 3 = 0 then 'shuffled' else 'cheapest' end, .95, 3,
           case when i % 3 = 1 then '{0,1}' else '{0,1,2,3}' end::smallint[],
           case when i % 3 = 1 then '{0,0}' else '{0,0,0,1}' end::smallint[], '{}', 0 from generate_series(0, 899) i`);
  await learnDaily(storage, QUIET, DAY);
  t.match(await newestModelEvidence(storage, true), { questions: left + 300, audits: 900 });
});

t.test('a small panel that is asked cheapest first teaches by the votes that every audit has', async (t) => {
  const { storage, owner } = await bench(t);
  await owner(`
    insert into roster_versions (version, panel_name, asking_order, search, simulated, models, families)
    values ('v', 'fast', 'cheapest', false, true, '{${MODELS},sim/fifth}', '{a,b,c,d,e}')`);
  // Nine of ten polls are obvious and end with a lock at the third vote; whole audits are of the others.
  await owner(`
    insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at)
    select 'ps_' || i, 'v', 'cheapest', .95, 2,
           case when i % 10 > 0 then '{0,1,2}' else '{0,1,2,3,4}' end::smallint[],
           case when i % 10 > 0 then '{0,0,0}' else '{1,0,0,1,1}' end::smallint[], '{}', 0 from generate_series(0, 999) i`);
  await learnDaily(storage, QUIET, DAY);
  const { questions, reliabilities } = (await newestModelEvidence(storage, true))!;
  t.equal(questions, 1_000);
  t.ok(reliabilities[MODELS[0]!]!.right > 0.85, 'it was alone in one of ten, not in all');
  t.same(Object.keys(reliabilities).toSorted(), MODELS.slice(0, 3).toSorted(), 'about the others nothing is known');
});

t.test('of a small panel only the votes that every audit has say how much models agree', async (t) => {
  const { storage, owner } = await bench(t);
  const five = [...MODELS, 'sim/fifth'];
  await owner(`
    insert into roster_versions (version, panel_name, asking_order, search, simulated, models, families)
    values ('v', 'fast', 'shuffled', false, true, '{${five.join()}}', '{a,b,c,d,e}')`);
  // Three that agree end a poll; of the others all five are heard. Each model is often among the first three.
  for (let first = 0; first < 5; first++) {
    const seats = [0, 1, 2, 3, 4].map((place) => (first + place) % 5);
    await owner(`
      insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at)
      select 'ps_${first}_' || i, 'v', 'shuffled', .95, 2,
             case when i % 2 = 0 then '{${seats.slice(0, 3)}}' else '{${seats}}' end::smallint[],
             case when i % 2 = 0 then '{0,0,0}' else '{0,1,0,1,0}' end::smallint[], '{}', 0 from generate_series(0, 399) i`);
  }
  await learnDaily(storage, QUIET, DAY);
  const { models, matrix } = (await newestModelEvidence(storage, true))!.agreement;
  const of = (a: string, b: string) => matrix[models.indexOf(a)]![models.indexOf(b)];
  // Neighbours agree in half of the polls, which two options do by chance. In whole rows disputed polls would count more.
  const found = of(five[0]!, five[1]!)!;
  t.ok(Math.abs(found) < 0.01, `${found}`);
});

t.test('a worker reads what was learned; without a store it goes on without', async (t) => {
  const { storage, plant } = await bench(t);
  t.equal(NO_EVIDENCE.reading(2, votes(0)), null);
  await plant(0, 250);
  const kept = keepEvidence(storage, { ...QUIET, readings: true });
  t.equal(kept.reading(3, votes(0, 1)), null, 'until it is read');
  await eventually('a reading', async () => kept.reading(3, votes(0, 1)));
  await kept[Symbol.asyncDispose]();
});
