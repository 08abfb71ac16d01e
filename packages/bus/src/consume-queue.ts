import { randomBytes } from 'node:crypto';
import type { ServiceTier } from '@eloquentpoll/contracts';
import { TimeoutError, withTimeout } from '@eloquentpoll/ops/with-timeout';
import type { PollQueue } from './poll-queue.ts';
import type { ProgressChannels } from './progress-channels.ts';
import { type PollJob, type QueueShard, readJob } from './queue-shard.ts';
import { reservedSlots } from './reserved-slots.ts';
import { tenantSlots } from './tenant-slots.ts';

// A consumer with free slots takes jobs from the shard whose first job is first in the fair order. If none wait, Redis
// sends it the next ones as messages. Each exchange also reports all jobs that ended since the last one.

/**
 * Must be well below HELD_MS: a dead worker's jobs return to the queue after that time, jobs that it had just taken
 * sooner.
 */
const RENEW_EVERY_MS = 2_000;
/** Covers lost messages, jobs of dead workers, and a Redis that was down. */
const LOOK_EVERY_MS = 1_000;
/** While all slots are taken: keeps track of the fair order, and of shards where a new tenant waits. */
const LOOK_AT_HEADS_EVERY_MS = 100;
/** How many jobs a consumer may be sent before it asks again. Jobs sent to a process that hangs are delayed. */
const MAX_SENT = 4;
/** Time for aborted jobs to settle. */
const ABORT_GRACE_MS = 1_000;

export interface PollConsumer {
  /** Resolves when the consumer can take jobs. */
  ready(): Promise<void>;
  /** Takes no more jobs until `resume`. Running ones continue. */
  pause(): void;
  resume(): void;
  /** Takes jobs only while fewer than this run, not counting those in reserved slots. */
  limit(concurrency: number): void;
  /** Takes no more jobs, waits for the running ones up to the time limit, then aborts them. */
  drain(withinMs: number): Promise<void>;
}

export interface ConsumerOptions {
  /** The lane to take from. Default: `standard`. */
  lane?: ServiceTier;
  /** How many polls run at once. */
  concurrency: number;
  /** How many of these slots are reserved for tenants with few running polls here. */
  reserved?: number;
  /** Must settle soon after the signal aborts. Errors that it throws are reported and the job is dropped. */
  run(job: Pick<PollJob, 'pollId' | 'awaitedBy'>, signal: AbortSignal): Promise<void>;
  onError(error: Error): void;
}

const UNKNOWN = -1;

/** What a consumer knows about a shard. */
interface Side {
  readonly shard: QueueShard;
  /** The score of the shard's next job. Infinity if none waits, lowest while unknown. */
  head: number;
  ended: string[];
  /** Jobs from this shard that run here. */
  readonly held: Map<string, AbortController>;
  /** An exchange is due: there are ended jobs to report, or it is time to look. */
  isDue: boolean;
  isAsked: boolean;
}

export function consumeQueue(
  queue: PollQueue,
  channels: Pick<ProgressChannels, 'hear'>,
  { concurrency, reserved = 0, run, onError }: ConsumerOptions,
): PollConsumer {
  const consumer = randomBytes(6).toString('hex');
  const slots = tenantSlots(concurrency - reserved);
  /** Running jobs and exchanges. */
  const work = new Set<Promise<void>>();
  let most = concurrency - reserved;
  let running = 0;
  /** Slots for which jobs have been requested. */
  let wanted = 0;
  let isPaused = false;
  let isAborted = false;
  let isSoon = false;
  const sides = queue.shards.map(
    (shard): Side => ({ shard, head: UNKNOWN, ended: [], held: new Map(), isDue: false, isAsked: false }),
  );
  const hearings = sides.map((side) => channels.hear(side.shard.channel(consumer), (message) => sent(side, message)));
  const reserve = reservedSlots({
    queue,
    slots,
    reserved,
    run: (job) => perform(sides.find(({ shard }) => shard === job.shard)!, job),
    onError,
  });
  // Jobs sent before the subscription is active would be lost and return late.
  const begun = Promise.all(hearings.map(({ stands }) => stands)).then(() => {
    lookAtAll();
    return Promise.all(work);
  });
  const timers = [
    setInterval(lookAtAll, LOOK_EVERY_MS),
    setInterval(renew, RENEW_EVERY_MS),
    setInterval(() => sides.length > 1 && !isPaused && free() === 0 && lookAtAll(), LOOK_AT_HEADS_EVERY_MS),
  ];
  for (const timer of timers) timer.unref();

  const open = (): number => (isPaused ? 0 : Math.max(0, most - running));
  /** Free slots for which no job has been requested. */
  const free = (): number => Math.max(0, open() - wanted);

  function track(promise: Promise<void>): void {
    const settled = promise.finally(() => work.delete(settled));
    work.add(settled);
  }

  async function perform(side: Side, job: PollJob): Promise<void> {
    const { jobId } = job;
    const abort = new AbortController();
    if (isAborted) abort.abort(new Error('shutdown'));
    using _slot = slots.take(job.tenant);
    side.held.set(jobId, abort);
    const ran = run(job, abort.signal).catch(onError);
    track(ran);
    await ran;
    side.held.delete(jobId);
    side.ended.push(jobId);
    side.isDue = true;
    soon();
  }

  function start(side: Side, job: PollJob): void {
    running += 1;
    void perform(side, job).finally(() => {
      running -= 1;
    });
  }

  /** A slot that was free when a job was requested may have been taken since by a job from another shard. */
  function startOrGiveBack(side: Side, job: PollJob): void {
    // After this process was paused, a job may arrive again while it still runs.
    if (side.held.has(job.jobId)) return;
    if (open() > 0) start(side, job);
    else side.shard.giveBack(job.jobId).catch(onError);
  }

  function sent(side: Side, message: string): void {
    const job = readJob(message);
    if (!job) return;
    startOrGiveBack(side, job);
    side.isDue = true;
    soon();
  }

  /** Exchanges at the end of this turn of the event loop, so that all jobs that end in it are reported together. */
  function soon(): void {
    if (isSoon) return;
    isSoon = true;
    setImmediate(() => {
      isSoon = false;
      exchange();
    });
  }

  function lookAtAll(): void {
    for (const side of sides) side.isDue = true;
    exchange();
  }

  /**
   * Requests as many jobs as slots are free, from the shards whose first jobs come first. Also sends what is due to the
   * others.
   */
  function exchange(): void {
    const askable = sides.filter(({ isAsked }) => !isAsked);
    const ahead = free() - 1;
    for (const side of withJobs(askable))
      if (free() > 0) track(ask(side, Math.ceil(free() / withJobs(askable).length), ahead));
    for (const side of askable) if (side.isDue) track(ask(side));
  }

  /** The shards with waiting jobs, sorted by their first job. Empty until all shards are known. */
  function withJobs(askable: readonly Side[]): Side[] {
    if (sides.some(({ head }) => head === UNKNOWN)) return [];
    return askable.filter(({ isAsked, head }) => !isAsked && head < Infinity).toSorted((a, b) => a.head - b.head);
  }

  async function ask(side: Side, want = 0, ahead = 0): Promise<void> {
    const later = Math.min(MAX_SENT, Math.ceil(open() / sides.length));
    const ended = side.ended.splice(0);
    const elsewhere = Math.min(...sides.map((other) => (other === side ? Infinity : other.head)));
    Object.assign(side, { isDue: false, isAsked: true });
    wanted += want;
    try {
      const { jobs, head } = await queue.take(side.shard, { consumer, want, elsewhere, ahead, later, ended });
      side.head = head;
      for (const job of jobs) startOrGiveBack(side, job);
    } catch (error) {
      // Reported with the next exchange. If that also fails for long, these jobs return to the queue, which is
      // harmless.
      side.ended.push(...ended);
      side.head = Infinity;
      onError(error as Error);
    }
    wanted -= want;
    side.isAsked = false;
    soon();
  }

  function renew(): void {
    for (const { shard, held } of sides) if (held.size > 0) shard.renew([...held.keys()]).catch(onError);
  }

  async function settle(): Promise<void> {
    await reserve.stop();
    do {
      exchange();
      await Promise.all(work);
    } while (work.size > 0 || sides.some(({ isDue }) => isDue));
  }

  function pause(): void {
    isPaused = true;
    reserve.pause();
    lookAtAll();
  }

  return {
    async ready() {
      await begun;
    },
    pause,
    resume() {
      isPaused = false;
      reserve.resume();
      lookAtAll();
    },
    limit(next) {
      most = Math.max(1, Math.min(next, concurrency - reserved));
      lookAtAll();
    },
    async drain(withinMs) {
      pause();
      const drained = settle();
      try {
        await withTimeout(drained, withinMs);
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error;
        isAborted = true;
        for (const { held } of sides) for (const abort of held.values()) abort.abort(new Error('shutdown'));
        await withTimeout(drained, ABORT_GRACE_MS).catch(() => undefined);
      }
      for (const timer of timers) clearInterval(timer);
      for (const hearing of hearings) hearing.close();
    },
  };
}
