import { setTimeout as sleep } from 'node:timers/promises';
import { cpuUs } from '../../fixture/process-cpu.ts';
import type { Bench } from '../bench.ts';
import { info, type Row, us } from '../bench-row.ts';
import { startFullLoad } from '../full-load.ts';
import { pollRequest } from '../polls.ts';
import { interleaved } from '../windows.ts';

const AT_ONCE = 50;

/** CPU of a whole poll in every process involved. Asked synchronously: a poll counts once its caller has the answer. */
export const life: Row = {
  id: 'life',
  about: 'CPU of Redis, Postgres and the gateway over the whole life of a poll',
  async measure(bench, plan) {
    await using gateway = await bench.gateway();
    await using worker = await bench.worker();
    await pollCosts(bench, gateway, worker, plan.windowMs);
    const { polls } = await interleaved({ polls: (ms) => pollCosts(bench, gateway, worker, ms) }, plan);
    return [
      {
        quantity: 'Redis CPU per poll, whole life',
        ours: us(polls!.redis!),
        baseline: '',
        value: polls!.redis!,
        unit: ' us',
        better: 'lower',
        must: 300,
        stretch: 100,
      },
      info('Postgres CPU per poll, whole life', us(polls!.postgres!)),
      info('gateway CPU per synchronous poll', us(polls!.gateway!)),
      info('worker CPU per synchronous poll', us(polls!.worker!)),
      info('polls per second, all on this machine', `${(1e6 / polls!.wall!).toFixed(0)}/s`),
    ];
  },
};

async function pollCosts(bench: Bench, gateway: { pid: number; port: number }, worker: { pid: number }, ms: number) {
  const next = () => pollRequest(bench, '/api/poll');
  await using load = await startFullLoad({ port: gateway.port, connections: AT_ONCE, next });
  await sleep(300);
  const read = () => [cpuUs(worker.pid), cpuUs(gateway.pid), bench.redisCpu(), bench.postgresCpu()];
  const [before, polls, at] = [read(), load.answered, performance.now()];
  await sleep(ms);
  const [after, done, wallUs] = [read(), load.answered - polls, (performance.now() - at) * 1_000];
  const bad = [...load.statuses.keys()].filter((status) => status !== 200);
  if (bad.length > 0) throw new Error(`polls were answered with ${bad.join(', ')}`);
  if (done === 0) throw new Error('no poll ended within a window');
  const [workerUs, gatewayUs, redis, postgres] = after.map((us, i) => (us - before[i]!) / done);
  return { worker: workerUs!, gateway: gatewayUs!, redis: redis!, postgres: postgres!, wall: wallUs / done };
}
