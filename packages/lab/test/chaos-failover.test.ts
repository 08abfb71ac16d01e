import t from 'tap';
import { shortCampaign } from './fixtures/short-campaign.ts';

// slow: 20 s

// A short fault campaign in which the primary is killed and its synchronous standby promoted.

t.test(
  'after a failover everything that was acknowledged is there, and what was unknown is found by its key',
  async (t) => {
    const settings = ['--minutes', '0.1', '--in-flight', '12', '--seed', 'short'];
    const { counts, faults } = await shortCampaign(t, 'failover', ...settings);
    t.ok((counts.polls ?? 0) > 0, 'polls were asked');
    t.equal(faults['fail over'], 1);
    t.match(counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
  },
);
