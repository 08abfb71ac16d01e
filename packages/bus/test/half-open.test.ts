import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { openBus } from '../src/index.ts';

// slow: 5 s

/** Leads to Redis. `forget` leaves connections with subscriptions open and passes on nothing more, in either direction. */
async function forgetfulProxy(t: Test, redisUrl: string) {
  const target = new URL(redisUrl);
  const subscribers = new Map<Socket, Socket>();
  const server = createServer((near) => {
    const far = connect({ host: target.hostname, port: Number(target.port) });
    near.on('data', (chunk) => {
      if (/subscribe/i.test(chunk.toString('latin1'))) subscribers.set(near, far);
    });
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('close', () => far.destroy());
    t.teardown(() => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = new URL(redisUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    forget() {
      for (const [near, far] of subscribers) {
        near.unpipe(far);
        far.unpipe(near);
        near.resume();
        far.resume();
      }
    },
  };
}

t.test('a subscription whose connection is half open is made anew within seconds', async (t) => {
  const { url: redisUrl, prefix } = testRedis(t);
  const proxy = await forgetfulProxy(t, redisUrl);
  const bus = await openBus({ redisUrl: proxy.url, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const news: unknown[] = [];
  await bus.watchPoll('ps_a', (snapshot) => news.push(snapshot));
  proxy.forget();
  await eventually('its watchers are asked to read again', () => news.length > 0);
  t.same(news, [null]);
  const canceled: string[] = [];
  bus.onCancel((id) => canceled.push(id));
  await eventually('messages come again', async () => {
    await bus.announceCancel('ps_b');
    return canceled.includes('ps_b');
  });
});
