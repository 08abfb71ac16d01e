import t from 'tap';
import {
  acceptPoll,
  bury,
  type Claim,
  checkLedger,
  checkLedgerInTurn,
  claimOverdue,
  claimPoll,
  type FailedPoll,
  type FleetFigures,
  type FoundPoll,
  FREE_POOL,
  failedPolls,
  findLapsed,
  finishPoll,
  type LedgerViolation,
  type RunningPoll,
  readFleetFigures,
  readMoneyFigures,
  readReputation,
  runningPolls,
  type StoredModelReputation,
  type StoredReputation,
  scanReachedAt,
} from '../src/index.ts';
import { acceptance, finished, funded, newPoll, open, response, spec, USD, vote } from './fixtures.ts';
import { type Kinds, sameKinds } from './row-kinds.ts';

const CLAIM: Kinds<Claim> = {
  id: 'string',
  resultId: 'string',
  accountId: 'string?',
  tenant: 'string?',
  isAwaited: 'boolean',
  epoch: 'number',
  claims: 'number',
  spec: 'object',
  schemaVersion: 'number',
  entryPoint: 'string',
  requestId: 'string?',
  traceparent: 'string?',
  auditVersion: 'string?',
  isCanceled: 'boolean',
  createdAt: 'date',
  deadlineAt: 'date',
  ageMs: 'number',
  remainingMs: 'number',
};
const LEASE: Kinds<FoundPoll> = {
  id: 'string',
  epoch: 'number',
  tenant: 'string?',
  isAwaited: 'boolean',
  lane: 'string',
};
const RUNNING: Kinds<RunningPoll> = {
  pollId: 'string',
  panel: 'string',
  entryPoint: 'string',
  worker: 'string?',
  epoch: 'number',
  claims: 'number',
  ageS: 'number',
  leftS: 'number',
};
const FAILED: Kinds<FailedPoll> = {
  pollId: 'string',
  resultId: 'string',
  panel: 'string',
  entryPoint: 'string',
  status: 'string',
  failedVotes: 'number',
  endedAt: 'date',
  errors: 'string',
};
const FLEET: Kinds<FleetFigures> = {
  held: 'number',
  lapsed: 'number',
  overdue: 'number',
  buried: 'number',
  freePoolU: 'bigint?',
  batchIdleS: 'object',
  spend: 'object',
  ledger: 'object',
  monthsEndAt: 'date',
  keptTooLong: 'object',
  unsealedSince: 'date?',
  archiveFails: 'boolean',
};
const LEDGER: Kinds<FleetFigures['ledger']> = {
  checkedAt: 'date',
  tookMs: 'number',
  violations: 'number',
  failures: 'number',
};
const REPUTATION: Kinds<StoredReputation> = {
  from: 'date',
  to: 'date',
  polls: 'object',
  latencyMs: 'object?',
  costU: 'object?',
  earlyTerminated: 'number',
  feedback: 'object',
  models: 'object',
};
const MODEL: Kinds<StoredModelReputation> = {
  modelId: 'string',
  asked: 'number',
  votes: 'number',
  averageLatencyMs: 'number?',
  p95LatencyMs: 'number?',
  averageCostU: 'number?',
  judged: 'number',
  agreed: 'number',
  lastVoteAt: 'date?',
};
const VIOLATION: Kinds<LedgerViolation> = { rule: 'string', subject: 'string', found: 'string' };

t.test('what is read of leases is what its types say', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const known = newPoll(accountId, { requestId: 'req', traceparent: 'trace', auditVersion: 'version' });
  const anonymous = newPoll(null, { tenant: 'network:a' });
  await acceptPoll(storage, { poll: known, holdU: USD });
  await acceptPoll(storage, { poll: anonymous, holdU: 1n, free: { dailyCapU: USD } });
  const claims = [await claimPoll(storage, known.id, 'worker'), await claimPoll(storage, anonymous.id, 'worker')];
  await query(`update polls set claims = 5, lease_until = now() - interval '1 second'`);
  sameKinds(t, 'lapsed', await findLapsed(storage, 10), LEASE);
  claims.push(await claimPoll(storage, known.id, 'worker'));
  await query(`update polls set deadline_at = now() - interval '1 second'`);
  claims.push(await claimOverdue(storage, anonymous.id, 'worker'));
  t.equal(claims.filter((claim) => claim !== null).length, 4, 'each way to a claim');
  sameKinds(
    t,
    'claim',
    claims.map((claim) => claim!),
    CLAIM,
  );
});

t.test('what operators see is what its types say', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const [held, waiting, failed, buried] = Array.from({ length: 4 }, () => acceptance(accountId));
  for (const each of [held, waiting, failed, buried]) await acceptPoll(storage, each!);
  await claimPoll(storage, held!.poll.id, 'worker');
  const votes = [vote(0, { option: null, error: 'timeout', billed_u: 0 })];
  const claim = await claimPoll(storage, failed!.poll.id, 'worker');
  await finishPoll(storage, finished(claim!, { votes, response: response({ status: 'partial' }) }));
  await bury(storage, { ...(await claimPoll(storage, buried!.poll.id, 'worker'))!, reason: 'test' });
  await checkLedgerInTurn(storage, 0);
  sameKinds(t, 'running', await runningPolls(storage, 10), RUNNING);
  sameKinds(t, 'failed', await failedPolls(storage, 10), FAILED);
  const fleet = await readFleetFigures(storage);
  t.equal(fleet.freePoolU, null, 'no free poll has filled the pool today');
  await query(`select top_up_pool('${FREE_POOL}', 'free', 1000000)`);
  t.equal(fleet.unsealedSince, null, 'no day is over');
  await query("insert into receipt_leaves (day, leaf) values ('2026-01-01', sha256('a'))");
  t.same((await readFleetFigures(storage)).unsealedSince, new Date('2026-01-02T00:00:00Z'));
  sameKinds(t, 'fleet', [fleet, await readFleetFigures(storage)], FLEET);
  sameKinds(t, 'ledger', [fleet.ledger], LEDGER);
  const { misfits, lostDeposits, negative, worstCaller } = await readMoneyFigures(storage);
  sameKinds(t, 'worst caller', [worstCaller], { refusals: 'number', otherFailures: 'number', unpaidU: 'bigint' });
  sameKinds(t, 'misfits', [misfits], { chain: 'number', card: 'number' });
  t.equal(lostDeposits, 0);
  sameKinds(t, 'negative', [negative], { accounts: 'number', owedU: 'bigint' });
  await query(`insert into money_scans (name, position, proved_position, due_at) values ('chain x', 1, 1, now())`);
  t.ok((await scanReachedAt(storage, 'chain x')) instanceof Date);
});

t.test('what is read of reputations is what its types say', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const poll = newPoll(accountId, { spec: { ...spec, simulated: true } });
  await acceptPoll(storage, acceptance(accountId, { poll }));
  await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'worker'))!));
  const found = await readReputation(storage, { simulated: true });
  sameKinds(t, 'reputation', [found], REPUTATION);
  sameKinds(t, 'polls', [found.polls], { success: 'number', partial: 'number', failed: 'number' });
  sameKinds(t, 'latency', [found.latencyMs!], { average: 'number', p50: 'number', p95: 'number' });
  sameKinds(t, 'cost', [found.costU!], { average: 'number', median: 'number' });
  sameKinds(t, 'feedback', [found.feedback], {
    ...{ total: 'number', correct: 'number', incorrect: 'number' },
    ...{ accounts: 'number', rightAccounts: 'number' },
  });
  sameKinds(t, 'model', found.models, MODEL);
  await query('update balances set used_u = used_u + 1 where used_u > 0');
  sameKinds(t, 'violation', await checkLedger(storage), VIOLATION);
});
