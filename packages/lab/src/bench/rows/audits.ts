import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { info, type Line, ms, type Row } from '../bench-row.ts';
import { interleaved, sized } from '../windows.ts';

const POLLS = 60;
const AT_ONCE = 6;
const MODEL_MS = 100;
/** All models vote for the first option, so the poll stops after three votes and leaves four models for the audit. */
const ORDER = {
  question: 'Which of these answers is the best one, all things considered, for a person who has to choose today?',
  options: ['answer 8', 'answer 9', 'answer 10', 'answer 11'],
  preset: 'broad',
  confidence_threshold: 0.5,
  max_cost_usd: 1,
};

/** How audits slow down callers: the same polls through a gateway that audits all of them, and one that audits none. */
export const audited: Row = {
  id: 'audits',
  about: 'p95 of a poll while all of them are audited, against none',
  async measure(bench, plan) {
    const polls = sized(plan, POLLS);
    await using _worker = await bench.worker({ afterMs: MODEL_MS, settings: { AUDIT_DAILY_CAP_USD: '1000' } });
    await using plain = await bench.gateway({ afterMs: MODEL_MS });
    await using drawing = await bench.gateway({
      afterMs: MODEL_MS,
      settings: { AUDIT_RATE: '1', AUDIT_LATER_RATE: '1' },
    });
    const p95Of = (port: number) => async () => {
      await auditsEnded(bench);
      return { p95: p95(await asked(bench, port, polls)) };
    };
    const found = await interleaved({ none: p95Of(plain.port), all: p95Of(drawing.port) }, plan);
    await auditsEnded(bench);
    const [row] = await bench.stores.query<{ made: number }>('select count(*)::integer as made from audits');
    const [none, all] = [found.none!.p95!, found.all!.p95!];
    const line: Line = {
      quantity: 'p95 of a poll with audits, by without',
      ours: ms(all),
      baseline: `without ${ms(none)}`,
      value: all / none,
      unit: '',
      better: 'lower',
      must: 1.05,
      stretch: 1.02,
    };
    return [line, info('audits made meanwhile', String(row?.made ?? 0))];
  },
};

const p95 = (took: readonly number[]): number =>
  took.toSorted((a, b) => a - b)[Math.floor(took.length * 0.95)] ?? Number.NaN;

async function asked({ customers }: Bench, port: number, polls: number): Promise<number[]> {
  const took: number[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < polls) {
      const authorization = `Bearer ${customers[next++ % customers.length]}`;
      const begun = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}/api/poll`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        // A question is audited once.
        body: JSON.stringify({ ...ORDER, question: `${ORDER.question} (${randomUUID()})` }),
      });
      if (answer.status !== 200) throw new Error(`a poll was answered with ${answer.status}`);
      await answer.arrayBuffer();
      took.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return took;
}

/** Waits until no audit is due, so that audits of one window do not run in the next. */
async function auditsEnded({ stores }: Bench): Promise<void> {
  for (let waited = 0; waited < 60_000; waited += 100) {
    const [row] = await stores.query<{ due: number }>('select count(*)::integer as due from audit_jobs');
    if (row?.due === 0) return;
    await wait(100);
  }
  throw new Error('audits were not made within 60 s');
}
