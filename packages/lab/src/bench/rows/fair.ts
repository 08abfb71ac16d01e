import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@eloquentpoll/testkit/eventually';
import type { Bench } from '../bench.ts';
import { info, type Line, type Row } from '../bench-row.ts';
import { BODY } from '../polls.ts';
import { type MeasurePlan, sized } from '../windows.ts';

// How much an account is affected by other accounts that send as much as they can.

const SESSIONS = 5_000;
const NEIGHBOUR_POLLS = 15;
const BUSY_HANDS = 16;
/** Few slots, so that the queue is long although the machine is idle. */
const SLOTS = { neighbour: 10, shares: 20 };
const ENDED = 640;
const MODEL_MS = { neighbour: 2_000, shares: 500 };
/** How soon a client that ignores Retry-After tries again after a refusal. */
const RUDE_MS = 100;
const TIMEOUT_MS = 120_000;

export const fair: Row = {
  id: 'fair',
  about: 'an account beside one that sends 5,000 sessions; shares of 64 accounts of unequal load',
  long: true,
  measure: async (bench, plan) => [...(await besideBusyAccount(bench, plan)), ...(await sharesOfAccounts(bench, plan))],
};

interface Sent {
  accepted: number;
  refused: number;
}

/** POSTs one session; false if it was refused, after a short pause. */
async function send(origin: string, key: string | undefined, sent: Sent, signal: AbortSignal): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${origin}/api/polls`, { method: 'POST', headers, body: BODY, signal });
  await answer.body?.cancel();
  if (![202, 429, 503].includes(answer.status)) throw new Error(`a session was answered ${answer.status}`);
  sent[answer.status === 202 ? 'accepted' : 'refused'] += 1;
  if (answer.status !== 202) await sleep(RUDE_MS, undefined, { signal });
  return answer.status === 202;
}

/** Milliseconds of each of one account's polls, asked one after the other. */
async function pollTimes(origin: string, key: string | undefined, polls: number): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < polls; i++) {
    const begun = performance.now();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await fetch(`${origin}/api/poll`, { method: 'POST', headers, body: BODY });
    const { status } = (await answer.json()) as { status?: string };
    if (status !== 'success') throw new Error(`a poll of the neighbour ended ${status ?? answer.status}`);
    took.push(performance.now() - begun);
  }
  return took.toSorted((a, b) => a - b);
}

/** Polls of one account, alone and beside an account that floods the service. */
export async function besideBusyAccount(bench: Bench, plan: MeasurePlan): Promise<Line[]> {
  const afterMs = sized(plan, MODEL_MS.neighbour) < MODEL_MS.neighbour ? 1_000 : MODEL_MS.neighbour;
  await using gateway = await bench.gateway({ afterMs });
  await using _worker = await bench.worker({ afterMs, concurrency: SLOTS.neighbour });
  const origin = `http://127.0.0.1:${gateway.port}`;
  const [busy, quiet] = bench.customers;
  const polls = sized(plan, NEIGHBOUR_POLLS);
  await pollTimes(origin, quiet, 1);
  const alone = await pollTimes(origin, quiet, polls);

  const sent: Sent = { accepted: 0, refused: 0 };
  const over = new AbortController();
  const flood = async (): Promise<void> => {
    while (sent.accepted + sent.refused < SESSIONS) await send(origin, busy, sent, over.signal);
  };
  const flooding = Promise.all(Array.from({ length: BUSY_HANDS }, flood)).catch((error) => {
    if (!over.signal.aborted) throw error;
  });
  await eventually('a session of the busy account is refused', () => sent.refused > 0, TIMEOUT_MS);
  const beside = await pollTimes(origin, quiet, polls);
  over.abort();
  await flooding;
  await bench.forgetPolls();
  const line = (name: string, share: number): Line => {
    const [before, now] = [alone, beside].map((times) => times[Math.ceil(times.length * share) - 1]!);
    return {
      quantity: `a neighbour's poll ${name}`,
      ours: `${now!.toFixed(0)} ms`,
      baseline: `alone ${before!.toFixed(0)} ms`,
      value: now! / before!,
      unit: ' of alone',
      better: 'lower',
      must: 1.5,
      stretch: 1.1,
    };
  };
  return [
    line('p50', 0.5),
    // With few polls the p95 is the slowest one, which depends more on the machine than on the neighbour.
    ...(polls < NEIGHBOUR_POLLS ? [] : [line('p95', 0.95)]),
    info('sessions of the busy account', `${sent.accepted} accepted, ${sent.refused} refused`),
  ];
}

/** How equal the shares of accounts are while all of them have polls waiting. */
export async function sharesOfAccounts(bench: Bench, plan: MeasurePlan): Promise<Line[]> {
  await using gateway = await bench.gateway({ afterMs: MODEL_MS.shares });
  const origin = `http://127.0.0.1:${gateway.port}`;
  const customers = bench.customers.slice(0, sized(plan, 64));
  const ended = sized(plan, ENDED) < ENDED ? 60 : ENDED;
  const over = new AbortController();
  const sent: Sent = { accepted: 0, refused: 0 };
  const [{ at }] = (await bench.stores.query<{ at: Date }>('select now() as at')) as [{ at: Date }];
  // The first account sends 34 polls, the last 97, so none has all its polls run before the measurement ends.
  const load = async (key: string, n: number): Promise<void> => {
    for (let left = 34 + n; left > 0; ) if (await send(origin, key, sent, over.signal)) left -= 1;
  };
  const loading = Promise.all(customers.map(load)).catch((error) => {
    if (!over.signal.aborted) throw error;
  });
  const counts = () =>
    bench.stores.query<{ ended: number; waiting: number }>(
      `select count(*) filter (where status <> 'running')::int as ended,
              count(*) filter (where status = 'running' and lease_owner is null)::int as waiting
         from polls where created_at >= $1 group by tenant`,
      [at],
    );
  const begun = performance.now();
  const look = async (isEnough: (all: { ended: number; waiting: number }[]) => boolean) => {
    for (;;) {
      const found = await counts();
      if (isEnough(found)) return found;
      if (performance.now() - begun > TIMEOUT_MS) throw new Error('too few polls were run in time');
      await sleep(100);
    }
  };
  await look((all) => all.length === customers.length && all.every(({ waiting }) => waiting >= 10));
  await using _worker = await bench.worker({ afterMs: MODEL_MS.shares, concurrency: SLOTS.shares });
  const found = await look((all) => all.reduce((sum, each) => sum + each.ended, 0) >= ended);
  over.abort();
  await loading;
  await bench.forgetPolls();
  const finished = found.filter(({ waiting }) => waiting > 0).map((each) => each.ended);
  const sum = finished.reduce((all, n) => all + n, 0);
  return [
    {
      quantity: `shares of ${finished.length} accounts with waiting polls`,
      ours: `${Math.min(...finished)} to ${Math.max(...finished)} polls each`,
      baseline: 'equal shares',
      value: sum ** 2 / (finished.length * finished.reduce((all, n) => all + n * n, 0)),
      unit: " Jain's index",
      better: 'higher',
      must: 0.95,
      stretch: 0.99,
    },
  ];
}
