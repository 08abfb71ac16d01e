import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench/bench.ts';
import { startFullLoad } from '../bench/full-load.ts';
import { paced } from '../bench/paced-load.ts';
import { pollRequest } from '../bench/polls.ts';
import { cpuUs } from '../fixture/process-cpu.ts';
import { MEASURED, type PollCosts } from './costs.ts';

// The plan assumes that a machine's throughput is its cores divided by the cost of one poll. This measures the cost at
// low load, and then the throughput at full load, to compare them.

export interface CostCheck {
  costs: PollCosts;
  cores: number;
  predictedPerSecond: number;
  measuredPerSecond: number;
}

const CALM_PER_SECOND = 40;
const AT_ONCE = 64;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 8_000;

export async function checkHere(bench: Bench, signal: AbortSignal): Promise<CostCheck> {
  await using gateway = await bench.gateway();
  await using worker = await bench.worker();
  const next = () => pollRequest(bench, '/api/poll');
  const read = () => [cpuUs(gateway.pid), cpuUs(worker.pid), bench.redisCpu(), bench.postgresCpu()];
  const calm = (ms: number) => paced({ ...gateway, perSecond: CALM_PER_SECOND, ms, signal, next });
  /** Polls per second at full load. */
  async function under(ms: number): Promise<number> {
    await using load = await startFullLoad({ port: gateway.port, connections: AT_ONCE, next });
    await sleep(WARM_UP_MS);
    const [answered, at] = [load.answered, performance.now()];
    await sleep(ms);
    return (load.answered - answered) / ((performance.now() - at) / 1_000);
  }

  // V8 has not optimized code that has rarely run.
  await under(WARM_UP_MS);
  const before = read();
  const { asked } = await calm(MEASURE_MS);
  const spent = read().map((us, i) => (us - before[i]!) / asked);
  const [gatewayUs, workerUs, redisUs, postgresUs] = spent as [number, number, number, number];

  const measuredPerSecond = await under(MEASURE_MS);
  const cores = cpus().length;
  const totalUs = gatewayUs + workerUs + redisUs + postgresUs;
  const queueUs = (redisUs * MEASURED.queueUs) / MEASURED.redisUs;
  return {
    costs: { ...MEASURED, gatewayUs, workerUs, redisUs, postgresUs, queueUs },
    cores,
    predictedPerSecond: (cores * 1e6) / totalUs,
    measuredPerSecond,
  };
}
