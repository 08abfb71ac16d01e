import { setTimeout as sleep } from 'node:timers/promises';
import { cpuUs } from '../fixture/process-cpu.ts';
import { startFullLoad } from './full-load.ts';
import { median } from './windows.ts';

// The cost of one answer for the process that gives it, under full load.

const WARM_UP_MS = 300;
const MAX_MORE = 50;
const AT_ONCE = 64;

export interface MeasuredTarget {
  pid: number;
  port: number;
  next(): Buffer;
  /** Status of a good answer. */
  status: number;
  connections?: number;
}

/** Microseconds of CPU and of wall clock per answer, and the median time of one. */
export async function costPerAnswer(asked: MeasuredTarget, ms: number): Promise<Record<string, number>> {
  const { pid, status, port, next, connections = AT_ONCE } = asked;
  await using load = await startFullLoad({ port, next, connections });
  await sleep(Math.min(WARM_UP_MS, ms));
  const begun = { answered: load.answered, cpu: cpuUs(pid), at: performance.now() };
  await sleep(ms);
  // On a busy machine a short window could end before the first answer.
  for (let more = 0; load.answered === begun.answered && more < MAX_MORE; more++) await sleep(WARM_UP_MS);
  const answered = load.answered - begun.answered;
  const wallUs = (performance.now() - begun.at) * 1_000;
  const cpu = cpuUs(pid) - begun.cpu;
  const bad = [...load.statuses].filter(([found]) => found !== status);
  if (bad.length > 0)
    throw new Error(`expected ${status}, got ${bad.map(([found, n]) => `${n} x ${found}`).join(', ')}`);
  if (answered === 0) throw new Error('nothing was answered within a window');
  return { cpu: cpu / answered, wall: wallUs / answered, p50: median(load.took) };
}
