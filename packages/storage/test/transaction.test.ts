import pg from 'pg';
import t from 'tap';
import { StorageBusy, StorageRefused, StorageUnavailable } from '../src/index.ts';
import { againAfterConflict, repeatable } from '../src/transaction.ts';

const postgresSays = (code: string) => Object.assign(new pg.DatabaseError('', 0, 'error'), { code });
const conflict = () => new StorageBusy('a deadlock', { cause: postgresSays('40P01') });
const lost = () => new StorageUnavailable('the answer was lost');
const away = () => new StorageUnavailable('no connection', { wasSent: false });

/** Work that fails in these ways, one after the other, and then succeeds. */
function failing(...failures: Error[]) {
  const left = [...failures];
  const work = { calls: 0, call };
  async function call(): Promise<string> {
    work.calls += 1;
    const failure = left.shift();
    if (failure) throw failure;
    return 'done';
  }
  return work;
}

t.test('what a conflict rolled back runs again, three times at most', async (t) => {
  for (const how of [againAfterConflict, repeatable]) {
    const thrice = failing(conflict(), conflict(), conflict());
    t.equal(await how(thrice.call), 'done');
    t.equal(thrice.calls, 4);
    const forEver = failing(conflict(), conflict(), conflict(), conflict());
    await t.rejects(how(forEver.call), { name: 'StorageBusy' });
    t.equal(forEver.calls, 4);
  }
});

t.test('work whose answer was lost runs once more if it may happen twice, and not again otherwise', async (t) => {
  const once = failing(lost());
  t.equal(await repeatable(once.call), 'done');
  const twice = failing(lost(), lost());
  await t.rejects(repeatable(twice.call), { name: 'StorageUnavailable' });
  t.equal(twice.calls, 2);
  const between = failing(conflict(), lost(), conflict());
  t.equal(await repeatable(between.call), 'done', 'beside conflicts');
  const unrepeatable = failing(lost());
  await t.rejects(againAfterConflict(unrepeatable.call), { name: 'StorageUnavailable' });
  t.equal(unrepeatable.calls, 1);
});

t.test('what was refused, took too long or was never sent is not repeated', async (t) => {
  for (const failure of [
    new StorageRefused('23505', undefined, {}),
    new StorageBusy('a statement took too long', { cause: postgresSays('57014') }),
    away(),
  ]) {
    const work = failing(failure);
    await t.rejects(repeatable(work.call), failure);
    t.equal(work.calls, 1, failure.message);
  }
});

t.test('the error says whether any of the attempts may have done the work', async (t) => {
  await t.rejects(repeatable(failing(lost(), away()).call), { message: 'the answer was lost', wasSent: true });
  await t.rejects(repeatable(failing(lost(), conflict(), away()).call), { message: 'the answer was lost' });
  await t.rejects(repeatable(failing(conflict(), away()).call), { message: 'no connection' });
});

t.test('each attempt waits up to twice as long as the one before it', async (t) => {
  t.intercept(Math, 'random', { value: () => 1 });
  const began = performance.now();
  await repeatable(failing(conflict(), conflict(), conflict()).call);
  const pausesMs = 40 + 80 + 160;
  // Timers may fire a millisecond early.
  t.ok(performance.now() - began >= pausesMs - 5);
});
