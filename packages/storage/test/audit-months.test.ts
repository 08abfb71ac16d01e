import { bandsOf, EMPTY_SAID } from '@eloquentpoll/evidence';
import t from 'tap';
import { countAudits, noteRosterVersion, type RosterVersion, readAuditMonths, recountAudits } from '../src/index.ts';
import { type Fixture, open, together } from './fixtures.ts';

const roster = (version: string, simulated = true): RosterVersion => ({
  version,
  panelName: 'broad',
  order: 'cheapest',
  search: false,
  simulated,
  models: [0, 1, 2, 3, 4].map((n) => ({ modelId: `sim/m${n}`, family: `f${n}` })),
});

/** Polls that stopped at three of five votes; every tenth was wrong. */
async function planted({ storage, query }: Fixture, version: string, count: number, months = 0): Promise<void> {
  await noteRosterVersion(storage, roster(version, !version.startsWith('real')));
  await query(
    `insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at,
                         reason, winner, created_at)
     select $1 || ' ' || $3::integer::text || ' ' || n, $1, 'shuffled', 0.95, 2, '{0,1,2,3,4}', '{0,0,0,1,1}', '{0.6,null,0.97}', 3,
            'confidence', case when n % 10 = 0 then 1 else 0 end, now() - make_interval(months => $3::integer)
       from generate_series(1, $2::integer) n`,
    [version, count, months],
  );
}

const shown = async ({ storage }: Fixture) =>
  (await readAuditMonths(storage, { simulated: true })).map(({ roster, askedOrder, tally }) => [
    roster.version,
    askedOrder,
    tally.audits,
    tally.stops,
  ]);

t.test('each audit is counted once, by however many processes, in the month in which it came', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  await planted(fixture, 'a', 130);
  await planted(fixture, 'b', 20);
  await planted(fixture, 'a', 10, 1);
  await planted(fixture, 'real', 10);
  await planted(fixture, 'old', 10, 30);
  await together(12, 4, () => countAudits(storage, 20));
  while (await countAudits(storage, 20));
  const rows = await readAuditMonths(storage, { simulated: true });
  t.same(rows.map(({ roster, tally }) => [roster.version, tally.audits]).toSorted(), [
    ['a', 10],
    ['a', 130],
    ['b', 20],
  ]);
  const newest = rows.find(({ tally }) => tally.audits === 130)!;
  t.same(newest.roster, roster('a'));
  t.equal(newest.month, new Date().toISOString().slice(0, 7));
  const [polls, said, cameTrue] = newest.tally.stops[0.95]!;
  t.same([polls, Math.round(said * 100), cameTrue], [130, 12_610, 117]);
  t.match(bandsOf(newest.tally.bands), [
    { from: 0.6, to: 0.7, polls: 130, cameTrue: 0.9 },
    { from: 0.95, to: 1, polls: 130, cameTrue: 0.9 },
  ]);
  t.match((await readAuditMonths(storage, { simulated: false })).length, 1);
});

t.test('sums are made again where all of their audits are kept, and stay where some are gone', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  await planted(fixture, 'a', 30);
  await planted(fixture, 'b', 30);
  t.equal(await countAudits(storage), true);
  const before = await shown(fixture);
  await query(`delete from audits where poll_id = 'a 0 7'`);
  await query(`update audit_months set tally = $1, unmade = 4`, [JSON.stringify({ ...EMPTY_SAID, audits: 30 })]);
  t.equal(await recountAudits(storage), 1);
  t.same(
    (await readAuditMonths(storage, { simulated: true })).map((month) => month.unmade),
    [4, 4],
  );
  t.equal(await countAudits(storage), true);
  t.same(
    (await shown(fixture)).find(([version]) => version === 'b'),
    before.find(([version]) => version === 'b'),
  );
  t.match(
    (await shown(fixture)).find(([version]) => version === 'a'),
    ['a', 'shuffled', 30, {}],
  );
  t.equal(await countAudits(storage), false);
});
