import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from './fixtures/run-fixture.ts';
import { alive, everythingEnded, startIn } from './fixtures/start-in.ts';

// slow: 7 s

// `npm start` where something is in its way: a port that is taken, a database that is not there, a second start in the folder.

t.test('what stands in the way is one sentence, and nothing is left', async (t) => {
  const folder = temporaryFolder(t);
  const stranger = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => stranger.once('listening', resolve));
  t.teardown(() => stranger.close());
  const address = stranger.address();
  const PORT = `${typeof address === 'object' ? address?.port : 0}`;
  const busy = await (await startIn(t, folder, { PORT })).ended;
  t.equal(busy.code, 1);
  t.match(busy.output, new RegExp(`PORT ${PORT} is in use by another program`));

  const unreachable = await (await startIn(t, folder, { DATABASE_URL: 'postgres://u:hush@127.0.0.1:1/db' })).ended;
  t.equal(unreachable.code, 1);
  t.match(unreachable.output, /DATABASE_URL: nothing usable answers at 127\.0\.0\.1:1/);
  t.notMatch(unreachable.output, /hush/);

  const fixture = await startIn(t, folder);
  const { processes } = await fixture.ready;
  const twice = await (await startIn(t, folder)).ended;
  t.equal(twice.code, 1);
  t.match(twice.output, /EloquentPoll runs here already, as process \d+/);
  t.equal(alive(processes).length, 6, 'the first one is not disturbed');
  t.notMatch(readFileSync(join(folder, 'processes.json'), 'utf8'), /ep_k_/);
  fixture.child.kill('SIGTERM');
  await fixture.ended;
  await everythingEnded(folder, processes);
});
