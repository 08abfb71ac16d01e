import t from 'tap';
import { shortCampaign } from './fixtures/short-campaign.ts';

// slow: 20 s

// A short fault campaign with a PgBouncer between the processes and Postgres.

t.test(
  'polls and batches by way of a pooler that is killed: none is lost, and few connections carry all',
  async (t) => {
    const settings = ['--minutes', '0.1', '--in-flight', '12', '--seed', 'short'];
    const { counts, faults } = await shortCampaign(t, 'pooler', ...settings);
    t.ok((counts.polls ?? 0) > 0 && (counts['polls of batches'] ?? 0) > 0, 'polls and rows were run');
    t.ok((faults['kill pooler'] ?? 0) > 0, 'it was killed');
    t.match(counts, { 'polls lost': 0, 'double captures': 0, 'open holds': 0, 'given up': 0 });
  },
);
