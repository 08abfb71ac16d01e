import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import type { LogLine, RunningApp } from '@eloquentpoll/services/start-app';
import { startModule } from '../fixture/modules.ts';

// The workers under test. One that was killed is replaced at once, as a supervisor would.

export interface Worker {
  readonly service: RunningApp;
  /** As it stands in the leases. */
  readonly workerId: string;
  /** Somebody is at it: not to be struck again now. */
  struck: boolean;
}

export interface Crew {
  /** A worker that runs and is ready, chosen by `pick` and from then on struck; waits for one. */
  victim(pick: <T>(items: readonly T[]) => T, signal: AbortSignal): Promise<Worker>;
  /** Ends it for good and starts another in its place. */
  kill(worker: Worker): Promise<void>;
  readonly running: number;
  /** Warnings and errors that workers logged, by their text. */
  readonly complaints: ReadonlyMap<string, number>;
  /** Time a new worker took until it was ready. */
  readonly startsMs: readonly number[];
  /** Rejects when a worker ended by itself or could not be replaced. */
  readonly broken: Promise<never>;
  settled(): Promise<void>;
}

const WARN = 40;

export async function hireCrew(group: ProcessGroup, size: number, env: Record<string, string>): Promise<Crew> {
  const workers = new Set<Worker>();
  const doomed = new Set<RunningApp>();
  const hiring = new Set<Promise<void>>();
  const complaints = new Map<string, number>();
  const startsMs: number[] = [];
  const { promise: broken, reject: breakDown } = Promise.withResolvers<never>();
  broken.catch(() => {});
  let hired = 0;

  const hear = (line: LogLine): void => {
    if (typeof line.level !== 'number' || line.level < WARN) return;
    const text = complaintOf(line);
    complaints.set(text, (complaints.get(text) ?? 0) + 1);
  };

  async function hire(): Promise<void> {
    const started = performance.now();
    const service = await startModule(group, `worker ${++hired}`, '@eloquentpoll/worker/main', env, hear);
    startsMs.push(performance.now() - started);
    const worker: Worker = { service, workerId: String(service.ready.worker_id), struck: false };
    workers.add(worker);
    void service.exited.then(() => {
      workers.delete(worker);
      if (!doomed.has(service)) breakDown(new Error(`${service.name} ended by itself`));
    });
  }

  function replace(): void {
    const job = hire().catch(breakDown);
    hiring.add(job);
    void job.then(() => hiring.delete(job));
  }

  await Promise.all(Array.from({ length: size }, hire));
  return {
    async victim(pick, signal) {
      for (;;) {
        const able = [...workers].filter((worker) => !worker.struck);
        if (able.length > 0) {
          const worker = pick(able);
          worker.struck = true;
          return worker;
        }
        await sleep(50, undefined, { signal });
      }
    },
    async kill(worker) {
      doomed.add(worker.service);
      workers.delete(worker);
      worker.service.signal('SIGKILL');
      await worker.service.exited;
      replace();
    },
    get running() {
      return workers.size;
    },
    complaints,
    startsMs,
    broken,
    async settled() {
      await Promise.all(hiring);
    },
  };
}

/** The text and its error without what is different every time. */
function complaintOf({ msg, err }: LogLine): string {
  const cause = typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : '';
  return `${String(msg)}${cause}`
    .replace(/ps_\w+(\.\d+)?/g, 'POLL')
    .replace(/\d+/g, 'N')
    .slice(0, 100);
}
