import { buildSimulator } from '@eloquentpoll/simulator/app';
import { checkLedger } from '@eloquentpoll/storage';
import { startModule } from '../fixture/modules.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import type { AttackTarget } from './attack-target.ts';

// Two gateways and two workers whose clocks differ by twenty minutes; one of the workers is killed. Leases, idempotency
// keys and deadlines must follow the clock of the database. Needs libfaketime (FAKETIME_LIB).

const APART = '10m';
const ASKERS = 8;
const EACH = 40;

export async function clocks(target: AttackTarget, library: string, progress: ProgressLine): Promise<AttackOutcome> {
  const simulator = buildSimulator({ latencyScale: 0.2 });
  const models = await simulator.listen({ host: '127.0.0.1', port: 0 });
  const at = (by: string) => ({
    ...target.env,
    MODELS_BASE_URL: `${models}/v1`,
    LD_PRELOAD: library,
    FAKETIME: by,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  });
  try {
    const start = (name: string, app: string, by: string) =>
      startModule(target.group, name, `@eloquentpoll/${app}/main`, at(by));
    const [early, late, ahead] = await Promise.all([
      start('gateway behind', 'gateway', `-${APART}`),
      start('gateway ahead', 'gateway', `+${APART}`),
      start('worker ahead', 'worker', `+${APART}`),
      start('worker behind', 'worker', `-${APART}`),
    ]);
    const origins = [early, late].map(({ ready }) => `http://127.0.0.1:${ready.port}`);
    const times = await Promise.all(
      origins.map(async (origin) => Date.parse((await call(target, origin, '/api/health')).timestamp)),
    );
    const apartMin = Math.round((times[1]! - times[0]!) / 60_000);

    let completed = 0;
    let others = 0;
    const ask = async (asker: number, i: number): Promise<void> => {
      const [here = '', there = ''] = i % 2 === 0 ? origins : origins.toReversed();
      const key = { 'idempotency-key': `${asker}-${i}` };
      const one = await call(target, here, '/api/polls', key);
      const same = await call(target, there, '/api/polls', key);
      const { status } = await call(target, there, `/api/polls/${one.session_id}/status`, { prefer: 'wait=30' });
      if (status === 'completed' && same.session_id === one.session_id) completed += 1;
      else others += 1;
      progress.show(`clocks: ${completed} polls completed`);
    };
    await Promise.all(
      Array.from({ length: ASKERS }, async (_, asker) => {
        for (let i = 0; i < EACH; i++) {
          if (asker === 0 && i === EACH / 2) ahead.signal('SIGKILL');
          await ask(asker, i);
        }
      }),
    );
    const books = await checkLedger(target.stores.storage);
    const due = ASKERS * EACH;
    return {
      figures: { clocks_apart_min: apartMin, polls: due, completed, others, ledger_violations: books.length },
      counts: { polls: due, 'polls not completed': due - completed },
      holds: apartMin === 20 && completed === due && books.length === 0,
      lines: [
        `clocks ${apartMin} minutes apart: ${completed} of ${due} polls completed and were the same poll at both gateways, one worker killed; ${books.length} violations in the books`,
      ],
    };
  } finally {
    await simulator.close();
  }
}

const ORDER = JSON.stringify({ question: 'Which of these is the best choice?', options: ['A', 'B'], preset: 'fast' });

async function call({ key }: AttackTarget, origin: string, path: string, more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more };
  const order = path === '/api/polls' ? { method: 'POST', body: ORDER } : {};
  const response = await fetch(origin + path, { headers, ...order, signal: AbortSignal.timeout(60_000) });
  return (await response.json()) as { timestamp: string; session_id: string; status: string };
}
