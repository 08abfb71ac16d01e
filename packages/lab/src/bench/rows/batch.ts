import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../terminal/table.ts';
import { batchClient } from '../batch/batch-client.ts';
import { judgeBatch } from '../batch/judge-batch.ts';
import { type AskingPerson, askingPerson } from '../batch/person.ts';
import { replacedProcesses } from '../batch/replaced-processes.ts';
import { info, type Line, type Row } from '../bench-row.ts';
import { type MeasurePlan, sized } from '../windows.ts';

const EACH = 2;
const MODELS_TAKE_MS = 100;
const ALONE_MS = 20_000;
/** The share of rows done before the first kill; a person's waiting time is compared during this phase. */
const QUIET_SHARE = 0.3;
const LOOK_MS = 500;
/** Small, because in a large heap uncollected garbage looks like a leak. */
const HEAP_MB = 160;
const SETTINGS = { WORKER_FLEX_CONCURRENCY: '50' };

interface Sample {
  at: number;
  done: number;
  rss: number;
}

/**
 * A large batch in one upload, while processes are killed and a person asks single polls. No row may be lost or billed
 * twice, and the person must hardly wait longer than without the batch.
 */
export const batch: Row = {
  id: 'batch',
  about: 'a batch of --rows rows while --kills processes are killed, and a person who asks beside it',
  long: true,
  async measure(bench, plan) {
    const { rows, kills } = plan.batch;
    const app = { afterMs: MODELS_TAKE_MS, heapMb: HEAP_MB, settings: SETTINGS };
    const start = { gateway: () => bench.gateway(app), worker: () => bench.worker(app) };
    await using processes = await replacedProcesses(start, EACH);
    await using person = askingPerson(bench.customers[0]!, processes.anyPort);
    const client = batchClient(bench.keys[0]!, processes.anyPort);

    await sleep(sized(plan, 3_000));
    const alone = person.mark();
    await sleep(sized(plan, ALONE_MS), undefined, { signal: plan.signal });
    const before = person.since(alone);

    const cpu = () => ({
      gateway: processes.cpu('gateway'),
      worker: processes.cpu('worker'),
      postgres: bench.postgresCpu(),
      redis: bench.redisCpu(),
    });
    const [cpuBefore, begun, rssBefore] = [cpu(), performance.now(), processes.gatewayRss()];
    const { batch_id: id } = await client.upload(rows);
    const uploaded = performance.now();
    const samples: Sample[] = [];
    const look = async (): Promise<boolean> => {
      const { counts, status } = await client.read(id);
      const done = counts.total - counts.waiting - counts.running;
      samples.push({ at: performance.now(), done, rss: processes.gatewayRss() });
      plan.onWindow(done, rows, `${status}, ${processes.kills} kills`);
      return status !== 'running';
    };
    const { beside, killed } = await runOut(plan, { look, samples, processes, person, kills });
    const [cpuAfter, ended] = [cpu(), performance.now()];
    const verdict = await judgeBatch(bench.stores, client, id);
    const perRow = (name: keyof typeof cpuBefore) => (cpuAfter[name] - cpuBefore[name]) / rows / 1_000;
    return [
      info('rows, kills', `${rows} rows, ${processes.kills} kills, ${verdict.takenOver} polls taken over`),
      info('upload', `${((uploaded - begun) / 1_000).toFixed(1)} s`),
      info('rows per second, all in all', (rows / ((ended - uploaded) / 1_000)).toFixed(1)),
      info('rows per second before the first kill', quietRate(samples, uploaded, beside.until).toFixed(1)),
      info(
        'CPU per row',
        (['gateway', 'worker', 'postgres', 'redis'] as const)
          .map((name) => `${name} ${perRow(name).toFixed(2)}`)
          .join(', '),
        'ms',
      ),
      none('rows lost', verdict.lost),
      none('rows run twice', verdict.runTwice),
      none('rows billed twice', verdict.billedTwice),
      none('rules of the ledger broken', verdict.ledger.length, verdict.ledger.join('; ')),
      memory(samples, rssBefore),
      {
        quantity: "a person's poll p95 beside the batch",
        ours: waits(beside),
        baseline: `alone ${waits(before)}`,
        value: p95(beside.took) / p95(before.took),
        unit: ' x',
        better: 'lower',
        must: 1.5,
        stretch: 1.1,
      },
      info('the same while processes are killed', waits(killed), `${killed.lost} without an answer`),
    ];
  },
};

interface RunOut {
  /** True if the batch has ended. */
  look(): Promise<boolean>;
  samples: readonly Sample[];
  processes: { readonly kills: number; killNext(): Promise<void> };
  person: AskingPerson;
  kills: number;
}

/** Kills are spread over the rows that are left after the quiet phase. */
async function runOut({ batch: { rows }, signal }: MeasurePlan, { look, samples, processes, person, kills }: RunOut) {
  const quiet = person.mark();
  while (!(await look()) && samples.at(-1)!.done < QUIET_SHARE * rows) await sleep(LOOK_MS, undefined, { signal });
  const beside = { ...person.since(quiet), until: performance.now() };
  const mark = person.mark();
  while (!(await look())) {
    const due = QUIET_SHARE + ((1 - QUIET_SHARE) * (processes.kills + 0.5)) / Math.max(1, kills);
    if (processes.kills < kills && samples.at(-1)!.done >= due * rows) await processes.killNext();
    else await sleep(LOOK_MS, undefined, { signal });
  }
  return { beside, killed: person.since(mark) };
}

const p95 = (took: readonly number[]): number => percentile(took, 0.95) ?? Number.NaN;

const waits = ({ took }: { took: readonly number[] }): string =>
  `${(percentile(took, 0.5) ?? Number.NaN).toFixed(0)}/${p95(took).toFixed(0)} ms p50/p95 of ${took.length}`;

const quietRate = (samples: readonly Sample[], from: number, until: number): number =>
  (samples.findLast(({ at }) => at <= until)?.done ?? 0) / ((until - from) / 1_000);

const none = (quantity: string, count: number, examples = ''): Line => ({
  quantity,
  ours: `${count}`,
  baseline: examples,
  value: count,
  unit: '',
  better: 'lower',
  must: 0,
  stretch: 0,
});

/** The largest gateway in the last quarter, relative to the second quarter, when everything is warm. */
function memory(samples: readonly Sample[], rssBefore: number): Line {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const most = (part: readonly Sample[]) => Math.max(...part.map(({ rss }) => rss)) / 1e6;
  const [second, last] = [most(samples.slice(quarter, 2 * quarter)), most(samples.slice(-quarter))];
  return {
    quantity: 'largest gateway RSS: before, second quarter, last quarter',
    ours: `${(rssBefore / 1e6).toFixed(0)} -> ${second.toFixed(0)} -> ${last.toFixed(0)} MB`,
    baseline: '',
    value: last / second,
    unit: ' x',
    better: 'lower',
    must: 1.1,
    stretch: 1,
  };
}
