import t from 'tap';
import { shortCampaign } from './fixtures/short-campaign.ts';

// slow: 45 s

// A short fault campaign of batches, in a file of its own because campaigns take long.

t.test(
  'batches lose no row, run and bill none twice, while processes are killed and Redis loses everything',
  async (t) => {
    const settings = ['--minutes', '0.1', '--in-flight', '8', '--kills', '3', '--seed', 'short'];
    const { counts, faults } = await shortCampaign(t, 'batches', ...settings);
    t.ok((counts['polls of batches'] ?? 0) > 0, 'rows were run');
    t.ok((faults['kill gateway during an upload'] ?? 0) > 0, 'a gateway died while it read rows');
    t.match(counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
  },
);
