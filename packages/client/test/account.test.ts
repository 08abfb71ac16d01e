import t, { type Test } from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { run } from '../src/cli/run.ts';
import { pipes, terminal } from './screen.ts';
import { type Answering, serve } from './service.ts';

// `usage` and `keys` of the command line.

const FIGURES = {
  polls: 1_234,
  completed: 1_230,
  failed: 4,
  canceled: 0,
  split_or_partial: 17,
  cost_usd: 3.5,
  saved_usd: 1.25,
  median_ms: 2_345,
  median_cost_usd: 0.0027,
};
const EMPTY = { ...FIGURES, polls: 0, failed: 0, split_or_partial: 0, cost_usd: 0, saved_usd: 0 };

const KEY = {
  id: '0b6a3c1e-0000-4000-8000-000000000001',
  key_prefix: 'ep_k_AbCdE',
  label: 'build',
  expires_at: null,
  read_only: false,
  limit_usd: 5,
  limit_reset: 'daily',
  spent_usd: 1.5,
  held_usd: 0,
  resets_at: null,
  spent_today_usd: 1.5,
  spent_month_usd: 20,
  last_used_at: null,
  revoked_at: null,
  created_at: '2026-11-01T00:00:00Z',
};

async function used(t: Test, argv: string[], answering: Answering) {
  const { url, asked } = await serve(t, answering);
  const { texts, ...outputs } = pipes();
  const exit = await run(argv, terminal({ ...outputs, env: { EP_URL: url, EP_KEY: 'ep_k_x' } }));
  return { exit, ...texts, asked };
}

t.test('usage is a table of groups with the total and what it was before', async (t) => {
  const usage = {
    from: '2026-11-01',
    to: '2026-11-20',
    group_by: 'metadata.job',
    groups: [
      { ...FIGURES, group: 'nightly' },
      { ...EMPTY, group: 'k1', label: 'build', median_ms: null, median_cost_usd: null },
    ],
    total: FIGURES,
    previous: { ...EMPTY, from: '2026-10-12', to: '2026-10-31' },
  };
  const argv = ['usage', '--by', 'metadata.job', '--from', '2026-11-01', '--to', '2026-11-20', '--preset', 'fast'];
  const { exit, out, asked } = await used(t, argv, () => usage);
  t.equal(exit, EXIT.winner);
  t.equal(asked[0]?.path, '/api/usage?group_by=metadata.job&from=2026-11-01&to=2026-11-20&preset=fast');
  t.equal(
    out,
    `2026-11-01 to 2026-11-20
  metadata.job  polls  failed  split     cost    saved  median  median cost
  nightly        1234       4     17  $3.5000  $1.2500   2.3 s    $0.002700
  build (k1)        0       0      0       $0       $0       -            -
  total          1234       4     17  $3.5000  $1.2500   2.3 s    $0.002700
Before (2026-10-12 to 2026-10-31): $0 for 0 polls
`,
  );
  t.same(JSON.parse((await used(t, ['usage', '--json'], () => usage)).out), usage);
});

t.test('keys are made and changed with limits, and listed with what they spent', async (t) => {
  const limits = ['--limit-usd', '$5', '--reset', 'daily', '--until', '2027-01-31', '--read-only'];
  const terms = { limit_usd: 5, limit_reset: 'daily', expires_at: '2027-01-31T00:00:00.000Z', read_only: true };
  const made = await used(t, ['keys', 'create', 'build', ...limits], () => ({ ...KEY, key: 'ep_k_whole' }));
  t.equal(made.out, 'ep_k_whole\n');
  t.match(made.asked, [{ method: 'POST', path: '/api/keys', body: { label: 'build', ...terms } }]);
  const change = ['keys', 'change', 'ep_k_AbCdE', '--limit-usd', 'none', '--until', 'never', '--label', 'b'];
  const changed = await used(t, change, ({ method }) => (method === 'GET' ? [KEY] : { ...KEY, limit_usd: null }));
  t.match(changed.asked[1], {
    method: 'PATCH',
    path: `/api/keys/${KEY.id}`,
    body: { limit_usd: null, expires_at: null, label: 'b' },
  });
  t.match(changed.out, '$20.00 this month');
  t.match((await used(t, ['keys'], () => [KEY])).out, /ep_k_AbCdE….*never used {7}\$1\.50 of \$5\.00 a day +build\n/);
});

t.test('an invalid command line says what would be right', async (t) => {
  for (const [argv, says] of [
    [['usage', '--by', 'dya'], /--by must be day, key, preset, surface or metadata\.NAME, not dya\. Did you mean day/],
    [['usage', '--from', 'yesterday'], /--from must be a day such as 2026-11-20/],
    [['usage', '--limit', '5'], /usage has no option --limit; it takes --by, --from, --to, --preset/],
    [['keys', 'create', '--limit-usd', 'none'], /no limit to remove/],
    [['keys', 'change', 'x'], /needs --limit-usd, --reset, --until, --read-only or --label/],
    [['keys', 'change', 'x', '--reset', 'weekly'], /Unknown reset weekly: never, daily or monthly/],
    [['keys', 'change', 'x', '--until', 'soon'], /--until must be a day such as 2027-01-31, a time, or never/],
    [['keys', 'revoke', 'x', '--limit-usd', '5'], /keys revoke has no option --limit-usd; it takes none/],
  ] as const) {
    const { exit, err, asked } = await used(t, [...argv], () => ({}));
    t.equal(exit, EXIT.usage, err);
    t.match(err, says);
    t.equal(asked.length, 0);
  }
});
