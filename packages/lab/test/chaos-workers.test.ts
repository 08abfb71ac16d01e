import t from 'tap';
import { shortCampaign } from './fixtures/short-campaign.ts';

// slow: 25 s

// A short fault campaign of workers, in a file of its own because campaigns take long.

t.test('workers that are killed under load lose nothing and bill nothing twice', async (t) => {
  // Few workers with many polls each: with three workers and 24 callers, a kill often met a worker without a poll.
  const sizes = ['--kills', '3', '--stops', '0', '--workers', '2', '--polls', '30', '--in-flight', '48'];
  const { counts } = await shortCampaign(t, 'workers', ...sizes, '--seed', 'short');
  t.match(counts, { 'process kills': 3, 'given up': 0 });
  for (const seen of [
    'polls taken over from killed workers',
    'votes seen to arrive',
    'ends held against the worker that wrote them',
  ])
    t.ok((counts[seen] ?? 0) > 0, seen);
});
