import { openBus } from '@eloquentpoll/bus';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { openFaultProxy } from '../src/proxy/fault-proxy.ts';
import { UNDISTURBED } from '../src/proxy/link-conditions.ts';
import { redisOutages } from './fixtures/redis-outages.ts';

// slow: 10 s

// Redis behind a network that fails: what the queue, the progress channel and those who write to them make of it.

/** Longer than a consumer blocks for a job; with ATTACKS=full 200 outages of 1 to 60 s. */
const FULL = process.env.ATTACKS === 'full';
const SIZES = FULL
  ? ({ outages: 67, consumers: 17, lastsMs: [1_000, 60_000] } as const)
  : ({ outages: 2, consumers: 2, lastsMs: [6_000, 6_500] } as const);

t.test('consumers take jobs again after every kind of outage, idle or busy', async (t) => {
  if (FULL) t.setTimeout(3_600_000);
  const { url: redisUrl } = testRedis(t);
  const ways = ['refuses', 'hangs', 'forgets'] as const;
  const outages = (
    await Promise.all(
      ways.map((way) =>
        redisOutages({ redisUrl, seed: 'o1', ...SIZES, ways: [way], signal: new AbortController().signal }),
      ),
    )
  ).flat();
  t.ok(outages.length >= ways.length * SIZES.outages);
  for (const { way, busy, resumedMs } of outages)
    t.ok(resumedMs !== null, `Redis ${way}, ${busy ? 'busy' : 'idle'}: taken after ${Math.round(resumedMs ?? 0)} ms`);
});

t.test('half-open connections to Redis are given up: commands and messages come over new ones', async (t) => {
  const { link, bus } = await busBehindLink(t);
  const news: unknown[] = [];
  await bus.watchPoll('ps_a', (snapshot) => void news.push(snapshot));
  await bus.enqueuePoll('ps_a');
  link.halfOpen();
  await t.rejects(bus.enqueuePoll('ps_b'), 'no answer');
  const commands = [() => bus.enqueuePoll('ps_b'), () => bus.ping(), () => bus.watchPoll('ps_b', () => {})];
  await Promise.all(commands.map(succeeds));
  await eventually('the watcher is asked to read again', () => news.includes(null));
});

t.test('a Redis that hangs from the first command: commands fail in time, and work once it is back', async (t) => {
  const { link, bus } = await busBehindLink(t);
  link.set({ blackhole: true });
  await t.rejects(bus.enqueuePoll('ps_a'));
  await t.rejects(bus.watchPoll('ps_a', () => {}));
  await t.rejects(bus.runs.read('ps_a'));
  link.set(UNDISTURBED);
  await succeeds(() => bus.enqueuePoll('ps_a'));
});

async function busBehindLink(t: Test) {
  const { url, prefix } = testRedis(t);
  const { hostname, port } = new URL(url);
  const link = await openFaultProxy('redis', { host: hostname, port: Number(port) });
  t.teardown(() => link[Symbol.asyncDispose]());
  const through = new URL(url);
  through.port = String(link.port);
  const bus = await openBus({ redisUrl: through.href, prefix });
  t.teardown(() => bus[Symbol.asyncDispose]());
  return { link, bus };
}

const succeeds = (command: () => Promise<unknown>) =>
  eventually('the command succeeds', async () => {
    await command();
    return true;
  });
