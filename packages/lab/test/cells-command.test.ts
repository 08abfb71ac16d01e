import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import { runCellsCommand } from '../src/cells/mover.ts';

t.test('a command that hangs ends the trial, and does not count as one that was killed', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  t.teardown(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const cells = ['0', '1'].map((name) => ({
    name,
    stores: { databaseUrl: `postgres://of@127.0.0.1:${port}/${name}` },
  }));
  const options = { withinMs: 2_000, killAfter: { step: 'never', ms: 0 } };
  await t.rejects(runCellsCommand(cells, ['check'], options), { message: /^cells check: SIGKILL/ });
});
