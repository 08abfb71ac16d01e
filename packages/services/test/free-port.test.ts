import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { freePort, portIsFree, samePort } from '../src/free-port.ts';

t.test('a server that comes back waits until another program has left its port', async (t) => {
  const port = await freePort();
  t.equal(await samePort(port), port);
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  t.equal(await portIsFree(port, '127.0.0.1'), false);
  let isBack = false;
  const back = samePort(port).then((found) => {
    isBack = true;
    return found;
  });
  await delay(150);
  t.notOk(isBack);
  other.close();
  t.equal(await back, port);
});
