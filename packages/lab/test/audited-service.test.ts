import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkLedger, readAuditMonths, readAudits, readRosterVersions, readTrackRecord } from '@eloquentpoll/storage';
import { asOwner } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { JURY, wholeService } from './whole-service.ts';

// slow: 8 s

const RECORDED = { 1: 'AAAAA', 2: 'AABAB' };
const OPTIONS = ['A', 'B', 'C', 'D'];

/** The simulator's roster file, where fast polls may ask their cheapest models first. */
function rosterFile(t: Test, order: string): string {
  const url = new URL('../../models/rosters/simulator.json', import.meta.url);
  const roster = JSON.parse(readFileSync(url, 'utf8')) as { presets: Record<string, object> };
  const presets = { ...roster.presets, fast: { ...roster.presets.fast, order } };
  const file = join(t.testdir(), `${order}.json`);
  writeFileSync(file, JSON.stringify({ ...roster, presets }));
  return file;
}

async function service(t: Test, settings: Record<string, string>) {
  const opened = await wholeService(t, RECORDED, {}, settings);
  const ask = async (id: number, options = OPTIONS) => {
    const answer = await opened.app.inject({
      method: 'POST',
      url: '/api/poll',
      headers: opened.headers,
      payload: { question: `Recorded question #${id}`, options, preset: 'fast' },
    });
    t.equal(answer.statusCode, 200);
    return answer.json();
  };
  const query = (statement: string) => asOwner(opened.settings.DATABASE_URL, statement);
  const estimate = async () => {
    const { cost_usd } = (await opened.app.inject('/api/poll/estimate?preset=fast&options=4')).json();
    return cost_usd.expected as number;
  };
  return { ...opened, ask, query, estimate };
}

const ORDERED = { AUDIT_RATE: '1', AUDIT_LATER_RATE: '1', AUDIT_GATE: '100', AUDIT_REFRESH_S: '1' };

t.test('audits open the gate, and from then on the cheapest models are asked first', async (t) => {
  const { app, gateway, ask, query, estimate } = await service(t, {
    ...ORDERED,
    MODELS_FILE: rosterFile(t, 'cheapest'),
  });
  const before = await ask(1);
  t.notOk('asking' in before, 'without audits it is asked as ever');
  const costBefore = await estimate();

  const [roster] = await readRosterVersions(gateway.storage);
  const { version } = roster!;
  t.match(roster, { panelName: 'fast', order: 'cheapest', search: false, simulated: true });
  const audits = () => readAudits(gateway.storage, { rosterVersion: version });
  await eventually('its other models were asked', async () => (await audits()).length === 1);
  t.match((await audits())[0], { askedOrder: 'shuffled', votes: [0, 0, 0, 0, 0], winner: 0 });

  await query(`
    insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at, winner)
    select 'ps_' || n, '${version}', 'shuffled', 0.95, 4, '{0,1,2,3,4}', '{1,1,1,1,1}', '{0.7,0.9,1}', 3, 1
      from generate_series(1, 150) n`);
  await eventually('they are learned', async () => (await readTrackRecord(gateway.storage, version))?.audits === 151);
  await eventually('and counted', async () => {
    const [month] = await readAuditMonths(gateway.storage, { simulated: true });
    return month?.tally.audits === 151;
  });
  t.match((await app.inject('/api/calibration')).json(), {
    audits: 151,
    presets: [
      {
        preset: 'fast',
        bands: [
          { from: 0.7, came_true: 1 },
          { from: 0.9, came_true: 1 },
        ],
      },
    ],
    versions: [{ roster_version: version, current: true, many_options: { audits: 151 } }],
  });
  await eventually('the gate opens', async () => (await ask(1)).asking?.order === 'cheapest');

  const result = await ask(2);
  t.match(result.asking, { order: 'cheapest', roster_version: version, lock_only: false });
  t.match(result.timing.arrivals[0].track_record, { audits: /^1[5-9]\d$/, same_leader: /^\d+$/ });
  const [{ spec }] = (await query('select spec from polls order by created_at desc limit 1')) as [
    { spec: { seats: { model_id: string }[] } },
  ];
  t.same(
    spec.seats.map(({ model_id }) => model_id),
    roster!.models.map(({ modelId }) => modelId),
    'in the order of prices',
  );
  t.same(new Set(spec.seats.map(({ model_id }) => model_id)), new Set(JURY.map((name) => `sim/${name}`)));
  await eventually('the estimate speaks of the same order', async () => (await estimate()) < costBefore);
  t.notOk('asking' in (await ask(1, ['A', 'B'])), 'two options have no audits of their own');

  const [{ state }] = (await query('select state from track_records')) as [{ state: { many: object } }];
  await query(
    `update track_records set state = '${JSON.stringify({ ...state, many: { ...state.many, isAlarmed: true } })}'`,
  );
  await eventually('an alarm brings the shuffle back, and only a lock stops a poll', async () => {
    const { asking, termination_reason } = await ask(1);
    return asking.order === 'shuffled' && asking.lock_only && termination_reason === 'mathematical_lock';
  });
  t.same(await checkLedger(gateway.storage), []);
});

t.test('switched off nothing else changes: not the order, not the spec, not the result', async (t) => {
  const off = await service(t, { MODELS_FILE: rosterFile(t, 'shuffled') });
  const plain = await service(t, {});
  const shapes = [];
  for (const { ask, query, gateway } of [off, plain]) {
    const result = await ask(1);
    const [poll] = (await query('select spec, audit_version from polls')) as [
      { spec: { seats: { model_id: string }[] }; audit_version: string | null },
    ];
    t.equal(poll.audit_version, null);
    t.same(await query('select * from audit_jobs'), []);
    t.same(await readRosterVersions(gateway.storage), []);
    const seats = poll.spec.seats.toSorted((a, b) => (a.model_id < b.model_id ? -1 : 1));
    const { outcome, confidence, chances, termination_reason, timing, ...others } = result;
    const said = { outcome, confidence, chances, termination_reason, members: Object.keys(others) };
    const arrivals = timing.arrivals.map(({ at_ms: _, ...odds }: { at_ms: number }) => odds);
    shapes.push(
      JSON.stringify({ spec: { ...poll.spec, seats, seed: '', caller: '', expires_at: '' }, said, arrivals }),
    );
  }
  t.equal(shapes[0], shapes[1]);
  t.notMatch(shapes[0], /track_record|asking/);
});
