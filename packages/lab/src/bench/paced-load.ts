import type { Socket } from 'node:net';
import { answerReader, connectTo } from './http-bytes.ts';

// Load at a fixed rate, however long answers take: slow answers do not reduce it.

export interface Pace {
  port: number;
  perSecond: number;
  ms: number;
  signal: AbortSignal;
  next(): Buffer;
}

export interface Paced {
  asked: number;
  /** By status; 0 for a broken connection. */
  statuses: Map<number, number>;
  /** Milliseconds each took. */
  took: number[];
}

interface Line {
  socket: Socket;
  read(): Promise<number>;
}

const TICK_MS = 10;
const MAX_TIMES = 100_000;

export async function paced({ port, perSecond, ms, signal, next }: Pace): Promise<Paced> {
  const idle: Line[] = [];
  const under = new Set<Promise<void>>();
  const found: Paced = { asked: 0, statuses: new Map(), took: [] };

  async function ask(): Promise<void> {
    const begun = performance.now();
    let status = 0;
    try {
      const line = idle.pop() ?? (await open(port));
      line.socket.write(next());
      status = await line.read();
      idle.push(line);
    } catch {
      // Counted below with status 0.
    }
    found.statuses.set(status, (found.statuses.get(status) ?? 0) + 1);
    if (found.took.length < MAX_TIMES) found.took.push(performance.now() - begun);
  }

  const begun = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = Math.min(ms, performance.now() - begun);
      for (; found.asked < (elapsed * perSecond) / 1_000; found.asked++) {
        const asking = ask().finally(() => under.delete(asking));
        under.add(asking);
      }
      if (elapsed < ms && !signal.aborted) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  await Promise.all(under);
  for (const { socket } of idle) socket.destroy();
  return found;
}

async function open(port: number): Promise<Line> {
  const socket = await connectTo(port);
  return { socket, read: answerReader(socket) };
}
