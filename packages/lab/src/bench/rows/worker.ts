import { backlogCosts } from '../backlog.ts';
import { type Row, us } from '../bench-row.ts';
import { interleaved, sized } from '../windows.ts';

const BACKLOG = 600;

/** CPU of a poll in the worker that runs it, under full load and with everything stored. */
export const worker: Row = {
  id: 'worker',
  about: 'polls per worker core, seven calls each, against raw model calls (C)',
  async measure(bench, plan) {
    const backlog = sized(plan, BACKLOG);
    await using worker = await bench.worker();
    await backlogCosts(bench, [worker], backlog);
    const found = await interleaved(
      { C: (ms) => bench.calls(`/c?ms=${ms}`), polls: () => backlogCosts(bench, [worker], backlog) },
      plan,
    );
    const { C, polls } = found;
    const best = 7 * C!.cpu!;
    return [
      {
        quantity: 'polls per worker core, 7 calls each',
        ours: `${us(polls!.worker!)}, ${(1e6 / polls!.worker!).toFixed(0)}/s`,
        baseline: `7 C ${us(best)}, ${(1e6 / best).toFixed(0)}/s`,
        value: best / polls!.worker!,
        unit: ' of 1/(7 C)',
        better: 'higher',
        must: 0.35,
        stretch: 0.85,
      },
    ];
  },
};
