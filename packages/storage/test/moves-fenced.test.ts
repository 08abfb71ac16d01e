import { randomUUID } from 'node:crypto';
import t from 'tap';
import {
  abandonMove,
  acceptPoll,
  deletePoll,
  emptyClosedAccounts,
  findKeyByHash,
  findOpenMove,
  findResult,
  listKeys,
  listSavedPanels,
  listWebhookEndpoints,
  moveAccount,
  readHistory,
  whileMoving,
} from '../src/index.ts';
import { acceptance } from './fixtures.ts';
import { clean, endedPoll, richAccount, seen, type TestCell, twoCells } from './two-cells.ts';

// slow: 8 s

/** Everything that its owner could lose, and what a poll there left. */
const owned = async ({ storage, query }: TestCell, accountId: string) => ({
  keys: (await listKeys(storage, accountId)).length,
  identities: (await query('select 1 from identities where account_id = $1', [accountId])).length,
  logins: (await query('select 1 from logins where account_id = $1', [accountId])).length,
  panels: (await listSavedPanels(storage, accountId)).length,
  endpoints: (await listWebhookEndpoints(storage, accountId)).length,
  repeats: (await query('select 1 from idempotency where principal = $1', [accountId])).length,
  history: (await readHistory(storage, accountId, 100, 0)).map(({ resultId }) => resultId).toSorted(),
});

for (const step of ['copied', 'frozen', 'drained', 'copied_all'] as const) {
  t.test(
    `a command that stood still after \`${step}\`, while another finished its move, changes nothing`,
    async (t) => {
      const { a, b, move } = await twoCells(t);
      const rich = await richAccount(a);
      const { accountId } = rich;
      let before: unknown;
      const first = moveAccount(
        { accountId, from: a.cell, to: b.cell, drainS: 5, keepS: 3_600, cachedS: 0 },
        async (reached) => {
          if (reached !== step) return;
          await move(accountId, a, b);
          const ended = await endedPoll(b, accountId, rich.keyId, 'after the move');
          t.match(await deletePoll(b.storage, accountId, rich.polls[1]!.id), { outcome: 'deleted' });
          rich.polls.push(ended);
          before = await owned(b, accountId);
          t.match(before, { keys: 1, identities: 1, logins: 1, panels: 1, endpoints: 1 });
        },
      );
      if (step === 'copied_all') await first;
      else await t.rejects(first, { name: 'MoveRefused', message: /another command/ });
      t.same(await owned(b, accountId), before);
      t.equal(await findResult(b.storage, rich.polls[1]!.resultId), null, 'what was deleted stays deleted');
      t.ok(await findResult(b.storage, rich.polls.at(-1)!.resultId), 'and what was asked stays');
      t.match(await findKeyByHash(b.storage, rich.hash), { accountId });
      await clean(t, 'there', a, b);
    },
  );
}

t.test('a command that stood still while its account went and came back does not freeze it', async (t) => {
  const { a, b, move } = await twoCells(t);
  const rich = await richAccount(a);
  const { accountId } = rich;
  const first = moveAccount(
    { accountId, from: a.cell, to: b.cell, drainS: 5, keepS: 3_600, cachedS: 0 },
    async (step) => {
      if (step !== 'copied') return;
      await move(accountId, a, b);
      await move(accountId, b, a);
    },
  );
  await t.rejects(first, { name: 'MoveRefused', message: /another command/ });
  t.match(await acceptPoll(a.storage, acceptance(accountId)), { kind: 'accepted' });
});

t.test('a move is given up only with its own target, and not after it has left', async (t) => {
  const { a, b, move } = await twoCells(t);
  const rich = await richAccount(a);
  const { accountId } = rich;
  await t.rejects(move(accountId, a, b, { stopAfter: 'drained' }));
  const open = (await findOpenMove(a.storage, accountId))!;
  await t.rejects(abandonMove(a.cell.storage, { ...b.cell, name: '2' }, open), { message: /on its way to cell 1/ });
  t.match(await findOpenMove(a.storage, accountId), { state: 'frozen' });
  await move(accountId, a, b);
  const before = await owned(b, accountId);
  await t.rejects(abandonMove(a.cell.storage, b.cell, open), { name: 'MoveRefused', message: /another command/ });
  t.same(await owned(b, accountId), before);
});

t.test('a move that is given up when all was copied leaves the books of its target whole', async (t) => {
  const { a, b, move } = await twoCells(t);
  const rich = await richAccount(a);
  const { accountId } = rich;
  const giveUp = async (from: TestCell, to: TestCell) => {
    await t.rejects(move(accountId, from, to, { stopAfter: 'copied_all' }), { message: 'killed after copied_all' });
    await abandonMove(from.cell.storage, to.cell, (await findOpenMove(from.storage, accountId))!);
  };
  await giveUp(a, b);
  await clean(t, 'where it never lived', a, b);
  t.same(await b.query('select account_id from usage_days union select account_id from moved_usage'), []);
  await move(accountId, a, b);
  await endedPoll(b, accountId, rich.keyId);
  await giveUp(b, a);
  await clean(t, 'where it has lived', a, b);
  const before = await seen(b, rich);
  await move(accountId, b, a);
  t.same(await seen(a, rich), before);
  await clean(t, 'back', a, b);
});

t.test('a move that was killed while it was given up goes on, and nothing of it is emptied', async (t) => {
  const { a, b, move } = await twoCells(t);
  const rich = await richAccount(a);
  const { accountId } = rich;
  const before = await seen(a, rich);
  await t.rejects(move(accountId, a, b, { stopAfter: 'copied' }));
  // The target's half of giving it up was committed.
  await b.query("update accounts set keep_until = now() - interval '1 second' where id = $1", [accountId]);
  const terms = { accountId, from: a.cell, to: b.cell, drainS: 5, keepS: 3_600, cachedS: 0 };
  await moveAccount(terms, async (step) => {
    if (step === 'copied_all') await emptyClosedAccounts(b.storage);
  });
  t.same(await seen(b, rich), before);
  await clean(t, 'there', a, b);
});

t.test('one command at a time is about a move of an account', async (t) => {
  const { a } = await twoCells(t);
  const [one, other] = [randomUUID(), randomUUID()];
  await whileMoving(a.storage, one, async () => {
    await t.rejects(
      whileMoving(a.cell.storage, one, async () => {}),
      { name: 'MoveRefused', message: /another command/ },
    );
    t.equal(await whileMoving(a.cell.storage, other, async () => 'done'), 'done');
  });
  t.equal(await whileMoving(a.cell.storage, one, async () => 'done'), 'done', 'and then the next');
});
