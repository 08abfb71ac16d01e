import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSimulator } from '@eloquentpoll/simulator/app';
import t from 'tap';
import { ATTACKS, attackModels, favour } from '../src/faults/favour.ts';
import { silent } from '../src/terminal/progress.ts';

// Short: the gain itself is measured by `npm run chaos -- --only favour`. Where places rotate exactly, few polls do.

t.test('[§I3-position-gain] models that take a place or obey an order favour no option', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ep-test-'));
  const simulator = buildSimulator({ latencyScale: 0, models: attackModels() });
  t.teardown(() => Promise.all([rm(folder, { recursive: true, force: true }), simulator.close()]));
  const url = await simulator.listen({ host: '127.0.0.1', port: 0 });
  const rows = await favour(
    { folder, modelsUrl: `${url}/v1`, seed: 'favour', polls: 60, signal: new AbortController().signal },
    silent,
  );
  t.equal(rows.length, ATTACKS.length);
  for (const { attack, votes, failed, gain } of rows) {
    t.equal(failed, 0, `${attack}: every vote is a vote`);
    t.equal(votes, 300);
    t.ok(Math.abs(gain) < 0.1, `${attack}: ${gain}`);
  }
});
