import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { sampleSnapshot } from './polls.ts';
import { median } from './windows.ts';

/** P0: from PUBLISH to the message on another connection, one at a time, with a snapshot as its payload. */
export async function publishMs(redisUrl: string, times: number): Promise<number> {
  const [from, to] = [new Redis(redisUrl, { lazyConnect: true }), new Redis(redisUrl, { lazyConnect: true })];
  const channel = `bench:${randomBytes(6).toString('hex')}`;
  const payload = JSON.stringify(sampleSnapshot('ps_0123456789abcdefghjkmnpq', 3));
  try {
    await Promise.all([from.connect(), to.connect()]);
    await to.subscribe(channel);
    const took: number[] = [];
    for (let i = 0; i < times; i++) {
      const heard = new Promise((resolve) => to.once('message', resolve));
      const begun = performance.now();
      void from.publish(channel, payload);
      await heard;
      took.push(performance.now() - begun);
    }
    return median(took);
  } finally {
    from.disconnect();
    to.disconnect();
  }
}
