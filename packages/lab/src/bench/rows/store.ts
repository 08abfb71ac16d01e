import { finishPoll } from '@eloquentpoll/storage';
import { makeTables, storeStepByStep } from '../baselines/kysely-store.ts';
import type { Bench } from '../bench.ts';
import type { Row } from '../bench-row.ts';
import { acceptOne, claimed, endOf } from '../opened-polls.ts';
import { interleaved, sized } from '../windows.ts';

const AT_ONCE = 8;
const EACH = 400;

/** Storing the end of a poll: our one statement against the same rows written one after the other in a transaction. */
export const store: Row = {
  id: 'store',
  about: 'results stored per second against a Kysely transaction',
  async measure(bench, plan) {
    await makeTables(bench.stores);
    const each = sized(plan, EACH);
    const found = await interleaved(
      {
        transaction: () => perResult(bench, each, storeStepByStep),
        statement: () => perResult(bench, each, (end) => finishPoll(bench.stores.storage, end)),
      },
      plan,
    );
    await bench.forgetPolls();
    const [theirs, ours] = [found.transaction!, found.statement!];
    const rate = (wall: number) => `${(1e6 / wall).toFixed(0)}/s`;
    const costs = ({ node, postgres }: Readonly<Record<string, number>>) =>
      `Node ${node!.toFixed(0)} + Postgres ${postgres!.toFixed(0)} us`;
    return [
      {
        quantity: `result store, ${AT_ONCE} at once`,
        ours: `${rate(ours.wall!)}, ${costs(ours)}`,
        baseline: `transaction ${rate(theirs.wall!)}, ${costs(theirs)}`,
        value: theirs.wall! / ours.wall!,
        unit: ' x',
        better: 'higher',
        must: 1.5,
        stretch: 4,
      },
    ];
  },
};

type End = ReturnType<typeof endOf>;

/** Polls are accepted and claimed before the measurement begins; only storing their ends is measured. */
async function perResult(bench: Bench, count: number, write: (end: End) => Promise<unknown>) {
  const ends: End[] = [];
  const prepare = async (): Promise<void> => {
    while (ends.length < count) ends.push(endOf(await claimed(bench, await acceptOne(bench))));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, prepare));
  const stored = ends.length;
  const [begun, cpu, postgres] = [performance.now(), process.cpuUsage(), bench.postgresCpu()];
  const work = async (): Promise<void> => {
    for (let end = ends.pop(); end; end = ends.pop()) await write(end);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const wall = ((performance.now() - begun) * 1_000) / stored;
  const { user, system } = process.cpuUsage(cpu);
  return { wall, node: (user + system) / stored, postgres: (bench.postgresCpu() - postgres) / stored };
}
