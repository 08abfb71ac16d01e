import { setTimeout as sleep } from 'node:timers/promises';
import { totalCpuUs } from '../fixture/process-cpu.ts';
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
  const read = () => ({
    worker: totalCpuUs(workers.map(({ pid }) => pid)),
    redis: bench.redisCpu(),
    postgres: bench.postgresCpu(),
  });
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
  const after = read();
  return {
    worker: (after.worker - before.worker) / ids.length,
    redis: (after.redis - before.redis) / ids.length,
    postgres: (after.postgres - before.postgres) / ids.length,
    wall: wallUs / ids.length,
  };
}
