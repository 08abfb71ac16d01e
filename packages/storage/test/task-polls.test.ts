import t from 'tap';
import { listTaskPolls, TASK, type TaskFilter, type TaskPosition } from '../src/index.ts';
import { taskScans } from '../src/task-polls.ts';
import { funded, open, spec, USD } from './fixtures.ts';
import { executedNodes, rowsRead } from './query-plan.ts';

const { storage, query } = await open(t);
const ROWS = 10_000;
const idOf = (i: number): string => `ps_${String(i).padStart(24, '0')}`;
const [accountId, other] = [await funded(storage, USD), await funded(storage, USD)];

/** Three tasks of a rare context, the newest of which has ended its time, one that was canceled, and other accounts' in between. */
await query(
  `insert into polls (id, result_id, account_id, tenant, status, spec, entry_point, lease_until, deadline_at, created_at,
                      finished_at, context_id, canceled_at, expires_at)
   select 'ps_' || lpad(i::text, 24, '0'), 'EP-2026-01-02-' || i, case when i > $3::integer then $2 else $1 end::uuid, 'x', 'completed', $4::jsonb,
          $5, now(), now(), at, at, case when i in (2, 7000, 9999) then 'rare' when i % 2 = 0 then 'often' end,
          case when i = 4 then at end, case when i = 9999 then now() end
     from generate_series(1, 2 * $3::integer) i, lateral (select '2026-01-01'::timestamptz + i % $3::integer * interval '1 second' as at)`,
  [accountId, other, ROWS, JSON.stringify(spec), TASK],
);
await query('analyze polls');

async function every(filter: TaskFilter, limit: number): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let pages = 0;
  for (let after: TaskPosition | null | undefined; after !== null && pages < 200; pages++) {
    const page = await listTaskPolls(storage, accountId, filter, { limit, after });
    ids.push(...page.polls.map(({ id }) => id));
    after = page.last;
  }
  return { ids, pages };
}

t.test('pages find exactly what a filter names, however rare it is, and read 700 tasks at most', async (t) => {
  const pages = Math.ceil(ROWS / 700);
  t.same(
    await every({ contextId: 'rare' }, 100),
    { ids: [7000, 2].map(idOf), pages },
    'without the one whose time is over',
  );
  t.same(await every({ contextId: idOf(3) }, 100), { ids: [idOf(3)], pages }, 'a context of its own');
  t.same(await every({ isCanceled: true }, 100), { ids: [idOf(4)], pages });
  t.same(await every({ contextId: 'rare', changedSince: new Date(Date.UTC(2026, 0, 1, 1)) }, 100), {
    ids: [idOf(7000)],
    pages: Math.ceil((ROWS - 3_600) / 700),
  });
  const often = await every({ contextId: 'often' }, 100);
  t.equal(often.ids.length, ROWS / 2 - 2);
  t.same(
    often.ids,
    often.ids
      .toSorted()
      .toReversed()
      .filter((id) => id !== idOf(ROWS))
      .concat(idOf(ROWS)),
  );
  t.ok(often.pages <= 51, `${often.pages}`);
});

t.test('the total counts among the 1,000 tasks that changed last, on every page', async (t) => {
  const first = await listTaskPolls(storage, accountId, {}, { limit: 50 });
  t.equal(first.total, 999, 'all but the one whose time is over');
  t.equal((await listTaskPolls(storage, accountId, {}, { limit: 50, after: first.last! })).total, 999);
  t.equal((await listTaskPolls(storage, accountId, { contextId: 'rare' }, { limit: 50 })).total, 0);
  const since = new Date(Date.UTC(2026, 0, 1, 0, 0, 9_990));
  t.equal(
    (await listTaskPolls(storage, accountId, { changedSince: since }, { limit: 50 })).total,
    9,
    'fewer are all counted',
  );
});

t.test('a rare context among 10,000 tasks: a page and its total are bounded scans of one index', async (t) => {
  const after = { changedUs: BigInt(Date.UTC(2026, 0, 1, 2)) * 1_000n, pollId: idOf(7_200) };
  const filters: TaskFilter[] = [
    { contextId: 'rare' },
    { contextId: idOf(3) },
    { isCanceled: true },
    { status: 'failed' },
    {},
  ];
  for (const filter of filters) {
    for (const position of [undefined, after]) {
      const { scan, count } = taskScans(accountId, filter, position);
      for (const [statement, bound] of [
        [scan(700), 700],
        [count, 1_000],
      ] as const) {
        const nodes = await executedNodes(storage, statement);
        const read = nodes.map(rowsRead);
        const what = `${JSON.stringify(filter)}: ${nodes.map((node) => node['Node Type']).join(', ')}`;
        t.ok(Math.max(...read) <= bound, `${what}: ${read}`);
        t.match(what, /Index Scan/);
      }
    }
  }
});
