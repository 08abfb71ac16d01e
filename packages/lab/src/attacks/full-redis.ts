import { Agent, request } from 'node:http';
import { buildSimulator } from '@eloquentpoll/simulator/app';
import { checkLedger } from '@eloquentpoll/storage';
import { startModule } from '../fixture/modules.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import { type AttackTarget, comesTrue, countRunningPolls } from './attack-target.ts';

// Redis has no memory left and refuses every write. Reads must still work, accepted polls must be kept in Postgres, and
// every poll must end once there is memory again. Needs a Redis of its own: the limit applies to the whole server.

const ORDER = JSON.stringify({ question: 'Which of these is the best choice?', options: ['A', 'B'], preset: 'fast' });

export async function fullRedis(
  target: AttackTarget,
  { seconds }: { seconds: number },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  const { redis } = target.stores.bus;
  const simulator = buildSimulator({ latencyScale: 0 });
  const models = await simulator.listen({ host: '127.0.0.1', port: 0 });
  const agent = new Agent({ keepAlive: true });
  const statuses: Record<string, Record<string, number>> = {};
  const ask = async (method: 'GET' | 'POST', path: string) => {
    const status = await statusOf(target, agent, method, path);
    const name = `${method} ${path.replace(/ps_\w+/, 'ID')}`;
    const counts = statuses[name] ?? {};
    statuses[name] = { ...counts, [status]: (counts[status] ?? 0) + 1 };
  };
  try {
    await startModule(target.group, 'worker', '@eloquentpoll/worker/main', {
      ...target.env,
      MODELS_BASE_URL: `${models}/v1`,
    });
    await statusOf(target, agent, 'POST', '/api/polls');
    const ended = async () => (await countRunningPolls(target)) === 0;
    await comesTrue(ended, 30_000);
    const [{ id = '' } = {}] = await target.stores.query<{ id: string }>('select id from polls limit 1');

    await redis.call('CONFIG', 'SET', 'maxmemory', '1mb');
    const until = performance.now() + seconds * 1_000;
    while (performance.now() < until) {
      await ask('POST', '/api/polls');
      await ask('GET', `/api/polls/${id}/status`);
      await ask('GET', '/api/keys');
      await ask('GET', '/api/health');
      progress.show(`full Redis: ${JSON.stringify(statuses['POST /api/polls'])}`);
    }
    await redis.call('CONFIG', 'SET', 'maxmemory', '0');
    const began = performance.now();
    const allEnded = await comesTrue(ended, 120_000);
    const endedS = Math.round((performance.now() - began) / 100) / 10;
    const books = await checkLedger(target.stores.storage);
    const reads = Object.entries(statuses).filter(([name]) => name.startsWith('GET'));
    const readsHold = reads.every(([, counts]) => Object.keys(counts).join() === '200');
    const creates = statuses['POST /api/polls'] ?? {};
    const createsHold = Object.keys(creates).every((status) => ['202', '429', '503'].includes(status));
    return {
      figures: { seconds, statuses, all_ended: allEnded, ended_s: endedS, ledger_violations: books.length },
      counts: {
        runs: 1,
        'violations of the ledger': books.length,
        'polls without an end': allEnded ? 0 : await countRunningPolls(target),
      },
      holds: readsHold && createsHold && allEnded && books.length === 0,
      lines: [
        `Redis without memory for ${seconds} s: ${Object.entries(statuses)
          .map(([name, counts]) => `${name} ${JSON.stringify(counts)}`)
          .join(', ')}`,
        `with memory again ${allEnded ? `every accepted poll ended within ${endedS} s` : 'NOT every poll ended'}; ${books.length} violations in the books`,
      ],
    };
  } finally {
    await redis.call('CONFIG', 'SET', 'maxmemory', '0');
    agent.destroy();
    await simulator.close();
  }
}

function statusOf({ port, key }: AttackTarget, agent: Agent, method: 'GET' | 'POST', path: string): Promise<string> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const options = { agent, host: '127.0.0.1', port, method, path, headers, signal: AbortSignal.timeout(30_000) };
    const outgoing = request(options, (response) => {
      response.resume();
      response.on('end', () => resolve(String(response.statusCode)));
      response.on('error', () => resolve('cut'));
    });
    outgoing.on('error', () => resolve('none'));
    outgoing.end(method === 'POST' ? ORDER : undefined);
  });
}
