import { setTimeout as sleep } from 'node:timers/promises';
import { cpuUs, totalCpuUs } from '../../fixture/process-cpu.ts';
import type { Bench } from '../bench.ts';
import { info, type Line, ms, type Row } from '../bench-row.ts';
import { startFullLoad } from '../full-load.ts';
import { oneAtATime } from '../one-at-a-time.ts';
import { pollRequest } from '../polls.ts';
import { interleaved, lowerQuartile, median, sized } from '../windows.ts';

const EACH = 40;
const AT_ONCE = 32;
const WARM_UP_MS = 300;

/**
 * A poll of seven models, which is decided, stored and billed, against seven parallel calls through Portkey's gateway,
 * which stores nothing.
 */
export const peer: Row = {
  id: 'peer',
  about: "a poll of seven models against seven calls at once through Portkey's gateway",
  long: true,
  async measure(bench, plan) {
    const each = sized(plan, EACH);
    await using gateway = await bench.gateway();
    await using worker = await bench.worker();
    using polls = await oneAtATime(bench, gateway);
    // Polls must run first: the calls through the peer repeat the body of the newest model call.
    await polls.poll(each);
    const portkey = await bench.peer();
    await portkey.calls(`/u7?n=${each}`);

    const ourCpu = () => totalCpuUs([gateway.pid, worker.pid]) + bench.redisCpu() + bench.postgresCpu();
    const found = await interleaved(
      {
        'one poll at a time': async () => {
          const took = await polls.poll(each);
          return { p25: lowerQuartile(took), p50: median(took) };
        },
        'one set at a time': () => portkey.calls(`/u7?n=${each}`),
        [`${AT_ONCE} polls at once`]: (windowMs) => pollsAtOnce(bench, gateway.port, ourCpu, windowMs),
        async [`${AT_ONCE} sets at once`](windowMs) {
          const before = cpuUs(portkey.pid);
          const { made, wall } = await portkey.calls(`/sets?ms=${windowMs}&at_once=${AT_ONCE}`);
          return { wall: wall!, cpu: (cpuUs(portkey.pid) - before) / made! };
        },
      },
      plan,
    );
    const [oneOurs, oneTheirs] = [found['one poll at a time']!, found['one set at a time']!];
    const [ours, theirs] = [found[`${AT_ONCE} polls at once`]!, found[`${AT_ONCE} sets at once`]!];
    return [
      latency('p25', oneOurs.p25!, oneTheirs.p25!),
      latency('p50', oneOurs.p50!, oneTheirs.p50!),
      {
        quantity: `polls against sets per second, ${AT_ONCE} at once`,
        ours: `${(1e6 / ours.wall!).toFixed(0)}/s`,
        baseline: `Portkey ${(1e6 / theirs.wall!).toFixed(0)}/s`,
        value: theirs.wall! / ours.wall!,
        unit: ' x',
        better: 'higher',
        must: 3,
        stretch: 5,
      },
      info(
        'CPU per poll and per set, all processes that serve it',
        ms(ours.cpu! / 1_000),
        `Portkey ${ms(theirs.cpu! / 1_000)}`,
      ),
    ];
  },
};

const latency = (quartile: string, ours: number, theirs: number): Line => ({
  quantity: `a poll of seven against seven calls at once, ${quartile}`,
  ours: ms(ours),
  baseline: `Portkey ${ms(theirs)}`,
  value: ours / theirs,
  unit: ' x',
  better: 'lower',
  must: 0.5,
  stretch: 0.33,
});

async function pollsAtOnce(bench: Bench, port: number, cpu: () => number, windowMs: number) {
  await using load = await startFullLoad({ port, connections: AT_ONCE, next: () => pollRequest(bench, '/api/poll') });
  await sleep(Math.min(WARM_UP_MS, windowMs));
  const begun = { answered: load.answered, cpu: cpu(), at: performance.now() };
  await sleep(windowMs);
  const answered = load.answered - begun.answered;
  const wallUs = (performance.now() - begun.at) * 1_000;
  const spent = cpu() - begun.cpu;
  for (const [status, times] of load.statuses)
    if (status !== 200) throw new Error(`${times} polls were answered with ${status}`);
  return { wall: wallUs / answered, cpu: spent / answered };
}
