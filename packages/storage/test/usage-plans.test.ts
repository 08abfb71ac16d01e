import t from 'tap';
import { readUsageGroups, type UsageGrouping } from '../src/index.ts';
import { groupsQuery, type UsageGroupTerms } from '../src/usage.ts';
import { funded, open } from './fixtures.ts';
import { executedNodes, type PlanNode } from './query-plan.ts';

t.test('reading reads the rows of the account and the range, however much there is of others', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 0n);
  const figures = '10, 9, 1, 0, 2, 5000, 700, 9 * counted_once(1000), 9 * counted_once(500)';
  const days = "(now() at time zone 'utc')::date - d";
  const accounts = `(select gen_random_uuid() as id from generate_series(1, 60) union all select '${accountId}') a`;
  await query(`insert into usage_days select a.id, ${days}, md5('k' || k)::uuid, p, s, ${figures}
    from ${accounts}, generate_series(0, 59) d, generate_series(1, 3) k, unnest(array['broad', 'fast']) p, unnest(array['polls', 'mcp']) s`);
  await query(`insert into usage_labels select a.id, ${days}, 'customer', 'c' || v, ${figures}
    from ${accounts}, generate_series(0, 89) d, generate_series(1, 10) v`);
  await query(
    `insert into usage_names select a.id, ${days}, 'customer', 10 from ${accounts}, generate_series(0, 89) d`,
  );
  await query('vacuum analyze usage_days, usage_labels, usage_names');
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const range = { from: day(9), to: day(0), maxGroups: 1_000 };

  /** What is read of tables of usage, however often. */
  async function scansOf(terms: UsageGroupTerms) {
    const nodes = await executedNodes(storage, groupsQuery(accountId, terms));
    return nodes.filter((node) => /^usage_(days|label)/.test(node['Relation Name'] ?? ''));
  }
  for (const [groupBy, rows, groups] of [
    ['day', 120, 10],
    ['key', 120, 3],
    ['surface', 120, 2],
    [{ metadata: 'customer' }, 100, 10],
  ] as [UsageGrouping, number, number][]) {
    const terms = { ...range, groupBy };
    const scans = await scansOf(terms);
    t.ok(scans.length > 0);
    for (const scan of scans) {
      t.not(scan['Node Type'], 'Seq Scan', JSON.stringify(groupBy));
      t.equal(scan['Rows Removed by Filter'] ?? 0, 0, 'no rows of others');
    }
    t.equal(rowsOf(scans), rows, 'those of ten days');
    t.equal((await readUsageGroups(storage, accountId, terms)).groups.length, groups);
  }
  const ofLogins = { ...range, groupBy: 'preset' as const, filter: { keyId: null } };
  t.equal((await readUsageGroups(storage, accountId, ofLogins)).groups.length, 0);

  await query('do $sum$ begin while sum_usage_months(1000000) > 0 loop end loop; end $sum$');
  await query('vacuum analyze usage_labels, usage_names, usage_label_months');
  const scans = await scansOf({ from: day(80), to: day(2), groupBy: { metadata: 'customer' }, maxGroups: 1_000 });
  t.ok(rowsOf(scans) <= 10 * (4 + 2 * 16), `${rowsOf(scans)} rows: months, and days at both ends`);
});

const rowsOf = (scans: readonly PlanNode[]): number => scans.reduce((sum, scan) => sum + scan['Actual Rows'], 0);
