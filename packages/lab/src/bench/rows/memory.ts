import { setTimeout as sleep } from 'node:timers/promises';
import { rssBytes } from '../../fixture/rss-bytes.ts';
import type { Line, Row } from '../bench-row.ts';
import { answerReader, connectTo } from '../http-bytes.ts';
import { pollRequest } from '../polls.ts';

const POLLS = 50;
const MODELS_TAKE_MS = 4_000;

/** Memory of a gateway that has just started, and of a worker that runs fifty polls. */
export const memory: Row = {
  id: 'memory',
  about: 'memory of an idle gateway and of a worker with 50 polls',
  async measure(bench) {
    await using gateway = await bench.gateway({ afterMs: MODELS_TAKE_MS });
    await sleep(1_000);
    const idle = megabytes(gateway.pid);
    await using worker = await bench.worker({ afterMs: MODELS_TAKE_MS, concurrency: POLLS });
    const workerIdle = megabytes(worker.pid);
    const waiting = Array.from({ length: POLLS }, async () => {
      const socket = await connectTo(gateway.port);
      const read = answerReader(socket);
      socket.write(pollRequest(bench, '/api/poll'));
      const status = await read();
      socket.destroy();
      if (status !== 200) throw new Error(`a poll was answered with ${status}`);
    });
    const all = Promise.all(waiting);
    let busy = 0;
    let ended = false;
    const over = all.finally(() => {
      ended = true;
    });
    for (; !ended; await sleep(100)) busy = Math.max(busy, megabytes(worker.pid));
    await over;
    const line = (quantity: string, value: number, must: number, stretch: number, baseline = ''): Line => ({
      quantity,
      ours: `${value.toFixed(0)} MB`,
      baseline,
      value,
      unit: ' MB',
      better: 'lower',
      must,
      stretch,
    });
    return [
      line('RSS, gateway idle', idle, 120, 80),
      line('RSS, worker with 50 polls', busy, 170, 110, `idle ${workerIdle.toFixed(0)} MB`),
    ];
  },
};

const megabytes = (pid: number): number => rssBytes(pid) / 1e6;
