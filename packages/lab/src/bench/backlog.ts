import { setTimeout as sleep } from 'node:timers/promises';
import { cpuUs } from '../fixture/process-cpu.ts';
import type { Bench } from './bench.ts';
import { openedPolls } from './opened-polls.ts';

// A worker under full load: it is paused while a backlog is queued, resumed, and timed until the last poll is stored.

const LOOK_EVERY_MS = 20;
const TIMEOUT_MS = 60_000;
const AT_ONCE = 16;

export interface WorkerProcess {
  pid: number;
}

/** Microseconds per poll: CPU time of all workers together, of Redis and of Postgres, and wall clock. */
export async function backlogCosts(bench: Bench, workers: readonly WorkerProcess[], polls: number) {
  const { bus, query } = bench.stores;
  const signal = (name: NodeJS.Signals): void => {
    for (const { pid } of workers) process.kill(pid, name);
  };
  const ids: string[] = [];
  signal('SIGSTOP');
  try {
    const share = Math.max(1, Math.ceil(polls / AT_ONCE));
    const queue = async (): Promise<void> => {
      for (const id of await openedPolls(bench, share)) {
        await bus.enqueuePoll(id);
        ids.push(id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, queue));
  } finally {
    signal('SIGCONT');
  }
  const read = () => [...workers.map(({ pid }) => cpuUs(pid)), bench.redisCpu(), bench.postgresCpu()].map(Number);
  const [before, begun] = [read(), performance.now()];
  for (let left = ids.length; left > 0; ) {
    await sleep(LOOK_EVERY_MS);
    if (performance.now() - begun > TIMEOUT_MS) throw new Error(`${left} polls were not run in time`);
    const [row] = await query<{ left: number }>(
      "select count(*)::int as left from polls where id = any($1) and status = 'running'",
      [ids],
    );
    left = row!.left;
  }
  const wallUs = (performance.now() - begun) * 1_000;
  const spent = read().map((us, i) => (us - before[i]!) / ids.length);
  const [redis, postgres] = spent.splice(-2);
  return {
    worker: spent.reduce((sum, us) => sum + us, 0),
    redis: redis!,
    postgres: postgres!,
    wall: wallUs / ids.length,
  };
}
