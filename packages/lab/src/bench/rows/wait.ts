import type { Row } from '../bench-row.ts';
import { BODY, inTurn } from '../polls.ts';

const SESSIONS = 20;

/** How many requests a client needs to learn that its session has ended, if models take half a second. */
export const wait: Row = {
  id: 'wait',
  about: 'requests a client makes after it began a session, with Prefer: wait',
  async measure(bench) {
    await using gateway = await bench.gateway({ afterMs: 500 });
    await using _worker = await bench.worker({ afterMs: 500 });
    const origin = `http://127.0.0.1:${gateway.port}`;
    const key = inTurn(bench.keys);
    let most = 0;
    let sum = 0;
    const session = async (): Promise<void> => {
      const authorization = `Bearer ${key()}`;
      const asked = await fetch(`${origin}/api/polls`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: BODY,
      });
      const { session_id } = (await asked.json()) as { session_id: string };
      let requests = 0;
      for (let status = 'running'; status === 'running'; requests++) {
        const answer = await fetch(`${origin}/api/polls/${session_id}/status`, {
          headers: { authorization, prefer: 'wait=30' },
        });
        ({ status } = (await answer.json()) as { status: string });
      }
      most = Math.max(most, requests);
      sum += requests;
    };
    await Promise.all(Array.from({ length: SESSIONS }, session));
    return [
      {
        quantity: 'status requests per session with Prefer: wait',
        ours: `${(sum / SESSIONS).toFixed(2)} on average, at most ${most}`,
        baseline: '',
        value: most,
        unit: '',
        better: 'lower',
        must: 2,
        stretch: 1,
      },
    ];
  },
};
