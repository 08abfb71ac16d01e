import { setTimeout as sleep } from 'node:timers/promises';
import { machineBusy } from '../../fixture/machine-busy.ts';
import { totalCpuUs } from '../../fixture/process-cpu.ts';
import { asPercent } from '../../terminal/table.ts';
import { backlogCosts, type WorkerProcess } from '../backlog.ts';
import type { Bench, Server } from '../bench.ts';
import { info, type Line, type Row } from '../bench-row.ts';
import { startFullLoad } from '../full-load.ts';
import { paced } from '../paced-load.ts';
import { pollRequest } from '../polls.ts';
import { interleaved, type MeasurePlan, sized } from '../windows.ts';

const COUNTS = [1, 2, 4];
const BACKLOG = 600;
const AT_ONCE = 32;
const RATES = [10, 100];

/** How throughput grows with more processes, as far as the cores of this machine allow. */
export const scaling: Row = {
  id: 'scaling',
  about: 'polls per second with 1, 2 and 4 workers and gateways; Redis and Postgres per poll at 10 times the load',
  async measure(bench, plan) {
    return [...(await workers(bench, plan)), ...(await gateways(bench, plan)), ...(await loads(bench, plan))];
  },
};

/** How many cores each part kept busy. */
const shares = (parts: Readonly<Record<string, number>>, wallUs: number, busy: number): string =>
  `${Object.entries(parts)
    .map(([name, us]) => `${name} ${(us / wallUs).toFixed(2)}`)
    .join(', ')} cores; machine ${asPercent(busy, 0)} busy`;

async function workers(bench: Bench, plan: MeasurePlan): Promise<Line[]> {
  await using made = new AsyncDisposableStack();
  const all: WorkerProcess[] = [];
  for (let i = 0; i < Math.max(...COUNTS); i++) all.push(made.use(await bench.worker()));
  const backlog = sized(plan, BACKLOG);
  await backlogCosts(bench, all, backlog);
  const running = (size: number) => async () => {
    // The other workers exist but are paused, so that nothing needs to start between windows.
    const held = all.slice(size);
    for (const { pid } of held) process.kill(pid, 'SIGSTOP');
    const busy = machineBusy();
    try {
      const costs = await backlogCosts(bench, all.slice(0, size), backlog);
      return { ...costs, busy: busy() };
    } finally {
      for (const { pid } of held) process.kill(pid, 'SIGCONT');
    }
  };
  const found = await interleaved(Object.fromEntries(COUNTS.map((size) => [`${size}`, running(size)])), plan);
  return COUNTS.map((size) => {
    const { worker, redis, postgres, wall, busy } = found[`${size}`]!;
    const parts = { workers: worker!, Redis: redis!, Postgres: postgres! };
    return info(
      `polls per second, ${size === 1 ? '1 worker' : `${size} workers`}`,
      `${(1e6 / wall!).toFixed(0)}/s`,
      shares(parts, wall!, busy!),
    );
  });
}

async function gateways(bench: Bench, plan: MeasurePlan): Promise<Line[]> {
  await using made = new AsyncDisposableStack();
  const all: Server[] = [];
  for (let i = 0; i < Math.max(...COUNTS); i++) all.push(made.use(await bench.gateway()));
  const accepting = (size: number) => (ms: number) => acceptCosts(bench, all.slice(0, size), ms);
  await acceptCosts(bench, all, plan.windowMs);
  const found = await interleaved(Object.fromEntries(COUNTS.map((size) => [`${size}`, accepting(size)])), plan);
  await bench.forgetPolls();
  return COUNTS.map((size) => {
    const { gateway, redis, postgres, wall, busy } = found[`${size}`]!;
    const parts = { gateways: gateway!, Redis: redis!, Postgres: postgres! };
    return info(
      `sessions accepted per second, ${size === 1 ? '1 gateway' : `${size} gateways`}`,
      `${(1e6 / wall!).toFixed(0)}/s`,
      shares(parts, wall!, busy!),
    );
  });
}

async function acceptCosts(bench: Bench, servers: readonly Server[], ms: number) {
  await using load = new AsyncDisposableStack();
  const next = () => pollRequest(bench, '/api/polls');
  const connections = Math.max(1, Math.floor(AT_ONCE / servers.length));
  const loads = await Promise.all(servers.map(({ port }) => startFullLoad({ port, connections, next })));
  for (const each of loads) load.use(each);
  await sleep(200);
  const read = () => {
    const gateway = totalCpuUs(servers.map(({ pid }) => pid));
    const answered = loads.reduce((sum, each) => sum + each.answered, 0);
    return { gateway, redis: bench.redisCpu(), postgres: bench.postgresCpu(), answered, at: performance.now() };
  };
  const busy = machineBusy();
  const before = read();
  await sleep(ms);
  const after = read();
  const done = after.answered - before.answered;
  return {
    gateway: (after.gateway - before.gateway) / done,
    redis: (after.redis - before.redis) / done,
    postgres: (after.postgres - before.postgres) / done,
    wall: ((after.at - before.at) * 1_000) / done,
    busy: busy(),
  };
}

async function loads(bench: Bench, plan: MeasurePlan): Promise<Line[]> {
  await using gateway = await bench.gateway();
  await using _worker = await bench.worker();
  const at = (perSecond: number) => async (ms: number) => {
    const [redis, postgres] = [bench.redisCpu(), bench.postgresCpu()];
    const next = () => pollRequest(bench, '/api/poll');
    const { asked, statuses } = await paced({ ...gateway, perSecond, ms, signal: plan.signal, next });
    if (statuses.get(200) !== asked) throw new Error(`of ${asked} polls ${statuses.get(200) ?? 0} were answered well`);
    return { redis: (bench.redisCpu() - redis) / asked, postgres: (bench.postgresCpu() - postgres) / asked };
  };
  await at(RATES[1]!)(plan.windowMs);
  const idle = await perIdleSecond(bench, plan.windowMs * 3);
  const longer = { ...plan, windowMs: plan.windowMs * 2 };
  const found = await interleaved(Object.fromEntries(RATES.map((rate) => [`${rate}`, at(rate)])), longer);
  const lines = RATES.map((rate) => {
    const { redis, postgres } = found[`${rate}`]!;
    return info(
      `CPU per poll at ${rate} polls per second`,
      `Redis ${redis!.toFixed(0)}, Postgres ${postgres!.toFixed(0)} us`,
    );
  });
  return [
    ...lines,
    info('CPU per second without any poll', `Redis ${idle.redis.toFixed(0)}, Postgres ${idle.postgres.toFixed(0)} us`),
  ];
}

/** The cost of leases, sweeps, heartbeats and model health, which runs even without polls. */
async function perIdleSecond(bench: Bench, ms: number) {
  const [redis, postgres] = [bench.redisCpu(), bench.postgresCpu()];
  await sleep(ms);
  const perSecond = (us: number) => (us * 1_000) / ms;
  return { redis: perSecond(bench.redisCpu() - redis), postgres: perSecond(bench.postgresCpu() - postgres) };
}
