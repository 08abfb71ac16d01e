import { setTimeout as sleep } from 'node:timers/promises';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import type { Diary } from './diary.ts';
import { type ChargedAnswer, judgeVotes, type ProviderCall } from './judge-votes.ts';

// Reads the simulated provider's call log during the day. Each answer is compared with it as soon as all calls that
// began before the answer have ended.

export interface RecordedAnswer extends ChargedAnswer {
  readonly way: string;
  readonly resultId: string;
}

export interface ProviderRecord {
  /** Compares the answer with the provider's record, a little later. */
  compare(answer: RecordedAnswer): void;
  /** Reads new entries and makes the comparisons that are due. */
  read(): Promise<void>;
  /** Reads until no comparison is left. */
  settle(withinMs: number): Promise<void>;
}

const READ_EVERY_MS = 2_000;

/** Reads repeatedly until `signal` is aborted. */
export async function followRecord(record: ProviderRecord, diary: Diary, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await record.read().catch((error: unknown) => diary.note(`the provider's record was not read: ${String(error)}`));
    await sleepUnlessAborted(READ_EVERY_MS, signal);
  }
}

export interface ProviderRecordOptions {
  simulatorUrl: string;
  diary: Diary;
  /** The poll ids that providers see, by result id. */
  pollIdsOf(resultIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

const text = Type.Union([Type.String(), Type.Null()]);
const LogPage = Type.Object({
  total: Type.Integer(),
  kept: Type.Integer(),
  calls: Type.Array(
    Type.Object({
      n: Type.Integer(),
      poll: text,
      model: Type.String(),
      outcome: Type.String(),
      option_digest: text,
      cost_usd: Type.Union([Type.Number(), Type.Null()]),
    }),
  ),
});

const PAGE = 20_000;
/** Long, because a batch's rows are read only after all of them have ended. */
const KEPT_MS = 25 * 60_000;
const EVERY_MS = 250;

interface PollCalls {
  readonly at: number;
  readonly calls: ProviderCall[];
}

export function openProviderRecord({ simulatorUrl, diary, pollIdsOf }: ProviderRecordOptions): ProviderRecord {
  const polls = new Map<string, PollCalls>();
  let fresh: RecordedAnswer[] = [];
  let waiting: { answer: RecordedAnswer; needs: number }[] = [];
  let last = -1;

  /** Takes entries up to the first call that is still running; later entries are read again. */
  async function take(): Promise<number> {
    for (;;) {
      const response = await fetch(`${simulatorUrl}/_control/calls?limit=${PAGE}${last < 0 ? '' : `&after=${last}`}`);
      const { total, kept, calls } = readJson(LogPage, await response.text());
      if (total - kept > last + 1) throw new Error(`the simulator forgot ${total - kept - last - 1} calls`);
      const under = calls.findIndex(({ outcome }) => outcome === 'pending');
      const ended = under < 0 ? calls : calls.slice(0, under);
      for (const { poll, model, outcome, option_digest, cost_usd } of ended) {
        const known = polls.get(poll ?? '') ?? { at: performance.now(), calls: [] };
        polls.set(poll ?? '', known);
        known.calls.push({ model, outcome, option_digest, cost_usd });
      }
      last = ended.at(-1)?.n ?? last;
      if (calls.length < PAGE || under >= 0) return total;
    }
  }

  async function read(): Promise<void> {
    const came = fresh;
    fresh = [];
    const total = await take();
    waiting.push(...came.map((answer) => ({ answer, needs: total - 1 })));
    const ready = waiting.filter(({ needs }) => needs <= last);
    waiting = waiting.filter(({ needs }) => needs > last);
    const ids =
      ready.length === 0 ? new Map<string, string>() : await pollIdsOf(ready.map(({ answer }) => answer.resultId));
    for (const { answer } of ready) {
      const { problems, unheard } = judgeVotes(answer, polls.get(ids.get(answer.resultId) ?? '')?.calls ?? []);
      for (const problem of problems) diary.note(`${answer.way}: ${answer.resultId}: ${problem}`);
      diary.heard(answer.votes.length, unheard);
    }
    for (const [id, { at }] of polls) {
      if (performance.now() - at < KEPT_MS) break;
      polls.delete(id);
    }
  }

  return {
    compare: (answer) => void fresh.push(answer),
    read,
    async settle(withinMs) {
      const until = performance.now() + withinMs;
      await read();
      while (waiting.length > 0 && performance.now() < until) {
        await sleep(EVERY_MS);
        await read();
      }
      if (waiting.length > 0) diary.note(`${waiting.length} answers cannot be compared: calls of models do not end`);
      waiting = [];
    },
  };
}
