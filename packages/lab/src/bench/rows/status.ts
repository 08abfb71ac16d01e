import { type Line, type Row, us } from '../bench-row.ts';
import { costPerAnswer } from '../cost.ts';
import { requestBytes } from '../http-bytes.ts';
import { openedPolls } from '../opened-polls.ts';
import { inTurn, sampleSnapshot, statusRequests } from '../polls.ts';
import { interleaved, sized } from '../windows.ts';

/** Reading a session: the whole path (key, limit, state) against a constant answer and against one Redis GET. */
export const status: Row = {
  id: 'status',
  about: 'status of running and finished sessions against a hello (H) and a hello with one Redis GET (G)',
  async measure(bench, plan) {
    const hello = await bench.hello();
    await using gateway = await bench.gateway();
    const running = await openedPolls(bench, sized(plan, 200));
    for (const id of running) await bench.stores.bus.runs.open(id, 1, bench.accountId, sampleSnapshot(id, 3));
    const finished = await openedPolls(bench, sized(plan, 200), 'ended');
    const get = (ids: readonly string[], status = 200, headers: Record<string, string> = {}) => {
      const next = inTurn(statusRequests(bench, ids, headers));
      return (ms: number) => costPerAnswer({ ...gateway, next, status }, ms);
    };
    const plain = (path: string) => (ms: number) =>
      costPerAnswer({ ...hello, next: inTurn([requestBytes('GET', path)]), status: 200 }, ms);
    const found = await interleaved(
      {
        H: plain('/h'),
        G: plain('/g'),
        running: get(running),
        unchanged: get(running, 304, { 'if-none-match': '"3"' }),
        finished: get(finished),
      },
      plan,
    );
    await bench.forgetPolls();
    const [h, g] = [found.H!.cpu!, found.G!.cpu!];
    const line = (
      quantity: string,
      ours: number,
      name: string,
      baseline: number,
      must: number | null,
      stretch: number | null,
    ): Line => ({
      quantity,
      ours: us(ours),
      baseline: `${name} ${us(baseline)}`,
      value: baseline / ours,
      unit: ` ${name}`,
      better: 'higher',
      must,
      stretch,
    });
    return [
      line('status, running session', found.running!.cpu!, 'H', h, 0.4, 1),
      line('status, running session', found.running!.cpu!, 'G', g, 0.7, null),
      line('status, running session, 304', found.unchanged!.cpu!, 'H', h, null, null),
      line('status, finished session', found.finished!.cpu!, 'H', h, 0.55, 1),
    ];
  },
};
