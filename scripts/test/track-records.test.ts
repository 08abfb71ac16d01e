import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { bareEnvironment } from '@eloquentpoll/services/bare-environment';
import { asOwner, roleUrl, testDatabase } from '@eloquentpoll/testkit/database';
import t from 'tap';

const PROGRAM = join(root, 'scripts/operator/track-records.ts');

function run(databaseUrl: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    env: { ...bareEnvironment(), DATABASE_URL: databaseUrl },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

t.test('an operator lists track records, has one learned again, or begins it without its audits', async (t) => {
  const url = await testDatabase(t);
  const gateway = roleUrl(url, 'eloquentpoll_gateway');
  t.match(run(gateway), { status: 0, stdout: '' });
  const ledger = { audits: 1, isCertified: false, isAlarmed: true, stops: { trials: 1, hits: 1 }, blocks: [] };
  const state = JSON.stringify({ few: ledger, many: { ...ledger, isAlarmed: false }, situations: {} });
  await asOwner(
    url,
    `insert into roster_versions (version, panel_name, asking_order, search, simulated, models, families)
     values ('v1', 'broad', 'cheapest', false, true, '{a,b}', '{a,b}');
     insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at, learned)
     values ('ps_1', 'v1', 'shuffled', 0.95, 2, '{0,1}', '{0,1}', '{0.5}', 1, true);
     insert into track_records (roster_version, audits, learned, state) values ('v1', 1, 1, '${state}')`,
  );
  t.match(JSON.parse(run(gateway).stdout), {
    roster_version: 'v1',
    panel: 'broad',
    order: 'cheapest',
    audits: 1,
    alarm: true,
  });
  t.match(run(gateway, 'rebuild', 'v1'), { status: 0, stderr: /learned again/ });
  t.same(await asOwner(url, 'select learned from audits'), [{ learned: false }]);
  t.match(JSON.parse(run(gateway).stdout), { audits: 0, alarm: false });
  await asOwner(
    url,
    `update audits set counted = true;
     insert into audit_months (roster_version, asked_order, month, tally)
     select 'v1', 'shuffled', to_char(created_at at time zone 'utc', 'YYYY-MM'), '{"audits": 1, "bands": [], "stops": {}}' from audits`,
  );
  t.match(run(gateway, 'recount'), { status: 0, stderr: /^1 sums/ });
  t.same(await asOwner(url, 'select counted from audits'), [{ counted: false }]);
  t.same(await asOwner(url, "select tally ->> 'audits' as audits from audit_months"), [{ audits: '0' }]);
  t.match(run(gateway, 'recount', 'v1'), { status: 2, stderr: /takes no roster version/ });
  t.match(run(gateway, 'restart', 'v1'), { status: 0, stderr: /without audits/ });
  t.same(await asOwner(url, 'select from audits'), []);
  t.match(run(gateway, 'restart', 'v2'), { status: 1, stderr: /no roster version v2/ });
  t.match(run(gateway, 'forget', 'v1'), { status: 2, stderr: /forget is not known/ });
  t.match(run(gateway, 'rebuild'), { status: 2, stderr: /write one roster version/ });
});
