import { ApiError } from '../../http/api-error.ts';

// Limits how many polls of one payer this process accepts at once. They would wait for each other's locks in Postgres,
// each with a connection: without a limit, a burst from one account takes the whole pool.

export interface AcceptSlots {
  /**
   * First come, first served. Throws a 429 when the queue is full or the turn comes too late, a 503 when the process
   * ends. Both say that no poll was made; if an earlier try may have made one, `lost` is thrown instead.
   */
  run<T>(payer: string, accept: () => Promise<T>, lost?: unknown): Promise<T>;
}

interface Queue {
  running: number;
  waiting: Set<() => void>;
}

interface Limits {
  running: number;
  waiting?: number;
  waitMs?: number;
  /** Once aborted, only what has begun is completed. */
  ending?: AbortSignal;
}

const MAX_WAITING = 1_000;
const MAX_WAIT_MS = 10_000;

export function acceptSlots({ running, waiting = MAX_WAITING, waitMs = MAX_WAIT_MS, ending }: Limits): AcceptSlots {
  const queues = new Map<string, Queue>();

  async function take(queue: Queue): Promise<void> {
    if (queue.running < running) {
      queue.running += 1;
      return;
    }
    if (queue.waiting.size >= waiting) throw tooManyAtOnce();
    // A finishing call passes its slot to the next one, so `running` stays the same.
    await new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        queue.waiting.delete(turn);
        clearTimeout(late);
        ending?.removeEventListener('abort', end);
      };
      const turn = (): void => {
        settle();
        resolve();
      };
      const end = (): void => {
        settle();
        reject(restarting());
      };
      const late = setTimeout(() => {
        settle();
        reject(tooManyAtOnce());
      }, waitMs);
      queue.waiting.add(turn);
      ending?.addEventListener('abort', end);
    });
  }

  function leave(payer: string, queue: Queue): void {
    const [next] = queue.waiting;
    if (next) {
      next();
      return;
    }
    queue.running -= 1;
    if (queue.running === 0) queues.delete(payer);
  }

  return {
    async run(payer, accept, lost) {
      if (ending?.aborted) throw lost ?? restarting();
      const queue = queues.get(payer) ?? { running: 0, waiting: new Set() };
      queues.set(payer, queue);
      await take(queue).catch((refusal: unknown) => {
        throw lost ?? refusal;
      });
      try {
        return await accept();
      } finally {
        leave(payer, queue);
      }
    },
  };
}

const tooManyAtOnce = (): ApiError =>
  new ApiError('rate_limited', {
    detail:
      'Too many polls of this account, or free ones, were sent at the same moment; none was made of this request.',
    retryAfterSeconds: 1,
  });

const restarting = (): ApiError =>
  new ApiError('service_unavailable', {
    detail: 'The service is restarting; no poll was made of this request.',
    retryAfterSeconds: 1,
  });
