import t from 'tap';
import { leftIn, temporaryFolder } from './fixtures/run-fixture.ts';
import { alive, startIn } from './fixtures/start-in.ts';

// slow: 8 s

// `npm start` from outside: real services, stand-ins for the apps, and a folder that is used again.

t.test('ready, ended by a signal, and the next start has the same account and key', async (t) => {
  const folder = temporaryFolder(t);
  const first = await startIn(t, folder);
  const ready = await first.ready;
  t.match(ready, { api_key: /^ep_k_\w{38}$/, balance_cents: 2500 });
  t.equal(await (await fetch(ready.url)).text(), 'stand-in, AUDIT_RATE 0.2', 'simulated models are audited');
  t.same(Object.keys(ready.processes).sort(), ['gateway', 'id-provider', 'postgres', 'redis', 'simulator', 'worker']);
  first.child.kill('SIGINT');
  t.equal((await first.ended).code, 0);
  t.same(alive(ready.processes), []);

  const second = await startIn(t, folder);
  const again = await second.ready;
  t.equal(again.api_key, ready.api_key);
  t.equal(again.account_id, ready.account_id);
  t.equal(again.balance_cents, 2500, 'the gift is given once');
  second.child.kill('SIGTERM');
  t.equal((await second.ended).code, 0);
  t.same(leftIn(folder), []);
});

t.test('an account of simulated models and its play money are not there when real models are asked', async (t) => {
  const folder = temporaryFolder(t);
  const simulated = await startIn(t, folder);
  const before = await simulated.ready;
  simulated.child.kill('SIGTERM');
  await simulated.ended;

  const real = await startIn(t, folder, { OPENROUTER_API_KEY: 'an-unknown-key' });
  const after = await real.ready;
  t.notOk('simulator' in after.processes);
  t.not(after.account_id, before.account_id);
  t.not(after.api_key, before.api_key);
  t.equal(await (await fetch(after.url)).text(), 'stand-in, AUDIT_RATE undefined', 'audits of real models cost money');
  real.child.kill('SIGTERM');
  t.equal((await real.ended).code, 0);
});
