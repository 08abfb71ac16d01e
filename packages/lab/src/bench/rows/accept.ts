import { type Row, us } from '../bench-row.ts';
import { costPerAnswer } from '../cost.ts';
import { requestBytes } from '../http-bytes.ts';
import { BODY, inTurn, pollRequest } from '../polls.ts';
import { interleaved } from '../windows.ts';

/** Accepting a poll: API key, rate limit, validation, idempotency row, hold, poll row, commit, queue. */
export const accept: Row = {
  id: 'accept',
  about: 'accepting a session against a POST that only validates (A0)',
  async measure(bench, plan) {
    const hello = await bench.hello();
    await using gateway = await bench.gateway();
    const nothing = inTurn([requestBytes('POST', '/a0', {}, BODY)]);
    const found = await interleaved(
      {
        A0: (ms) => costPerAnswer({ ...hello, next: nothing, status: 202 }, ms),
        accept: (ms) =>
          costPerAnswer({ ...gateway, next: () => pollRequest(bench, '/api/polls'), status: 202, connections: 32 }, ms),
      },
      plan,
    );
    await bench.forgetPolls();
    const { A0, accept: ours } = found;
    return [
      {
        quantity: 'async accept, per gateway core',
        ours: `${us(ours!.cpu!)}, ${(1e6 / ours!.wall!).toFixed(0)}/s`,
        baseline: `A0 ${us(A0!.cpu!)}`,
        value: A0!.cpu! / ours!.cpu!,
        unit: ' A0',
        better: 'higher',
        must: 0.18,
        stretch: 0.35,
      },
    ];
  },
};
