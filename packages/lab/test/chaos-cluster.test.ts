import t from 'tap';
import { shortCampaign } from './fixtures/short-campaign.ts';

// slow: 60 s

// A short fault campaign on a Redis cluster, in a file of its own because campaigns take long.

t.test('a Redis cluster loses masters and moves slots, and no poll is lost or billed twice', async (t) => {
  const settings = ['--minutes', '0.15', '--in-flight', '15', '--kills', '20', '--seed', 'short2'];
  const { counts, figures } = await shortCampaign(t, 'cluster', ...settings);
  t.ok((counts.polls ?? 0) > 0, 'polls were asked');
  // The seed's first fault of this kind comes after three seconds.
  t.ok(figures['slots of a struck master served again'], 'a master was struck');
  t.match(counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
});
