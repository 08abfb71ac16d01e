import t from 'tap';
import { runChaos, shortCampaign } from './fixtures/short-campaign.ts';

// slow: 35 s

// A short fault campaign: everything that `npm run chaos` starts, a few kills, and a verdict.

t.test('the whole service under faults, for a moment', async (t) => {
  const settings = ['--minutes', '0.1', '--in-flight', '20', '--kills', '3', '--seed', 'short'];
  const { counts } = await shortCampaign(t, 'service', ...settings);
  t.ok((counts.polls ?? 0) > 0, 'polls were asked');
  t.match(counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
});

t.test('a mistake in its settings is one sentence, and starts nothing', async (t) => {
  t.match(await runChaos('--only', 'tea'), { code: 2, stderr: /there is no experiment "tea"/ });
  const recorded = await runChaos('--only', 'keys,workers', '--record', '/dev/null');
  t.match(recorded, { code: 2, stderr: /--record takes one experiment/ });
});
