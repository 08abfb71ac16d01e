import t from 'tap';
import {
  acceptPoll,
  buriedPolls,
  bury,
  checkLedgerInTurn,
  claimPoll,
  failedPolls,
  finishPoll,
  freeLease,
  noteBuriedSeen,
  noteRetried,
  readFleetFigures,
  renewLeases,
  runningPolls,
} from '../src/index.ts';
import { acceptance, finished, funded, newPoll, open, response, USD } from './fixtures.ts';

t.test('the fleet is told apart into held, lapsed, overdue and buried', async (t) => {
  const { storage, query } = await open(t);
  t.match(await readFleetFigures(storage), {
    held: 0,
    lapsed: 0,
    overdue: 0,
    buried: 0,
    ledger: { violations: 0, failures: 0 },
  });
  const accountId = await funded(storage, 4n * USD);
  const polls = Array.from({ length: 4 }, () => newPoll(accountId));
  for (const poll of polls) await acceptPoll(storage, { poll, holdU: USD });
  const [held, overdue, buried] = polls;
  await claimPoll(storage, held!.id, 'worker');
  await claimPoll(storage, overdue!.id, 'worker');
  await query(`update polls set deadline_at = now() - interval '1 second' where id = $1`, [overdue!.id]);
  const last = await claimPoll(storage, buried!.id, 'worker');
  await bury(storage, { id: last!.id, epoch: last!.epoch, reason: 'too_many_attempts' });
  t.match(await readFleetFigures(storage), { held: 2, lapsed: 1, overdue: 1, buried: 1 });
});

t.test('what an operator sees of running and failed polls holds no question and no account', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 2n * USD);
  const [running, failed] = [acceptance(accountId), acceptance(accountId)];
  await acceptPoll(storage, { ...running, holdU: USD });
  await acceptPoll(storage, { ...failed, holdU: USD });
  await claimPoll(storage, running.poll.id, 'w_1');
  const claim = await claimPoll(storage, failed.poll.id, 'w_1');
  await finishPoll(storage, finished(claim!, { response: response({ status: 'partial' }) }));
  const seen = [await runningPolls(storage, 10), await failedPolls(storage, 10)] as const;
  t.match(seen[0], [{ pollId: running.poll.id, worker: 'w_1', epoch: 1, claims: 1 }]);
  t.match(seen[1], [{ pollId: failed.poll.id, status: 'partial' }]);
  t.notMatch(JSON.stringify(seen), accountId);
  t.notMatch(JSON.stringify(seen), running.poll.spec.question);
});

t.test('a poll that is taken from its worker can be claimed at once, and the worker learns it', async (t) => {
  const { storage } = await open(t);
  const { poll, ...rest } = acceptance(await funded(storage, USD));
  await acceptPoll(storage, { poll, ...rest });
  await claimPoll(storage, poll.id, 'hangs');
  t.same(await freeLease(storage, poll.id), { epoch: 1, lane: 'standard' });
  t.same(await renewLeases(storage, 'hangs', [{ id: poll.id, epoch: 1 }]), []);
  const claim = await claimPoll(storage, poll.id, 'fresh');
  t.equal(claim?.epoch, 2);
  await finishPoll(storage, finished(claim!));
  t.equal(await freeLease(storage, poll.id), null, 'a poll that has ended stays ended');
});

t.test('a dead letter stays until it is acknowledged once', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 3n * USD);
  for (const poll of [newPoll(accountId), newPoll(accountId)]) {
    await acceptPoll(storage, { poll, holdU: USD });
    const claim = await claimPoll(storage, poll.id, 'worker');
    await bury(storage, { id: poll.id, epoch: claim!.epoch, reason: 'too_many_attempts' });
  }
  const [first, second, ...others] = await buriedPolls(storage, 10);
  t.same(others, []);
  t.match(first, { accountId, reason: 'too_many_attempts', claims: 1 });
  t.equal(await noteBuriedSeen(storage, first!.letterId), true);
  t.equal(await noteBuriedSeen(storage, first!.letterId), false);
  const again = newPoll(accountId);
  await acceptPoll(storage, { poll: again, holdU: USD });
  await noteRetried(storage, second!.letterId, again.id);
  t.same(await buriedPolls(storage, 10), []);
  t.equal((await readFleetFigures(storage)).buried, 0);
});

t.test('the ledger is checked by one process when it is due, and all see what was found', async (t) => {
  const { storage, query } = await open(t);
  await funded(storage, USD);
  const rounds = await Promise.all([checkLedgerInTurn(storage, 60_000), checkLedgerInTurn(storage, 60_000)]);
  t.equal(rounds.filter((found) => found !== null).length, 1, 'one of two');
  t.equal(await checkLedgerInTurn(storage, 60_000), null, 'not due again');
  t.match((await readFleetFigures(storage)).ledger, { violations: 0 });
  await query(
    `update balances set posted_u = posted_u + 1 where account_id in (select id from accounts where kind = 'user')`,
  );
  await query(`update ledger_checks set attempted_at = now() - interval '1 hour', took_ms = 0`);
  t.ok((await checkLedgerInTurn(storage, 60_000))!.violations.length > 0);
  t.ok((await readFleetFigures(storage)).ledger.violations > 0);
});

t.test('a poll that ends late is found by the check and counts for no violated ledger', async (t) => {
  const { storage, query } = await open(t);
  const poll = newPoll(await funded(storage, USD));
  await acceptPoll(storage, { poll, holdU: USD });
  await query(`update polls set deadline_at = now() - interval '2 minutes' where id = $1`, [poll.id]);
  t.match((await checkLedgerInTurn(storage, 60_000))!.violations, [{ rule: 'poll_overdue', subject: poll.id }]);
  t.match((await readFleetFigures(storage)).ledger, { violations: 0 });
});
