import { readFileSync, writeFileSync } from 'node:fs';
import { ownerUrl, roleUrl } from '@eloquentpoll/testkit/database';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { checkLedger, closeBooks, GATEWAY_ROLE, type LedgerViolation, openStorage } from '../src/index.ts';
import { type Fixture, open } from './fixtures.ts';
import {
  ALLOWED,
  CLOSED_DAMAGE,
  DAMAGE,
  FORGED,
  HIDDEN_DAMAGE,
  type Names,
  OPERATOR,
  populate,
  withDamage,
  withNames,
} from './ledger-damage.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 5 s

// An auditor that cannot fail is worthless: each rule is shown to fire on damage, in the open part of the ledger by the
// check that every round makes, in closed days by the whole check. What is found, and nothing else, stands in
// ledger-findings.json; UPDATE_DOCS=1 writes it anew.

const FINDINGS = new URL('ledger-findings.json', import.meta.url);
type Findings = Record<string, Record<string, string[]>>;
const findings: Findings = {};

/** All that was found, without what is another in every run. */
function noteFindings(check: string, damage: string, found: readonly LedgerViolation[], names: Names): void {
  const plain = (text: string) =>
    Object.entries(names)
      .reduce((rest, [name, value]) => rest.replaceAll(value, name), text.replace(/\d{4}-\d\d-\d\d [\d:.+]+/g, 'TIME'))
      .replace(/(?!0{8})[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
      .replace(/\d{4}-\d\d-\d\d/g, 'DAY')
      .replace(/ps_[0-9a-z]{20,}/g, 'POLL')
      .replace(/\b[0-9a-f]{24}\b/g, 'HEX');
  findings[check] ??= {};
  findings[check][damage.replace(/\s+/g, ' ')] = found
    .map(({ rule, subject, found }) => plain(`${rule} ${subject}: ${found}`))
    .toSorted();
}

function sameAsKept(t: Test, check: string): void {
  if (process.env.UPDATE_DOCS) {
    const kept: Findings = JSON.parse(readFileSync(FINDINGS, 'utf8'));
    writeFileSync(FINDINGS, `${JSON.stringify({ ...kept, ...findings }, null, 2)}\n`);
  }
  const kept: Findings = JSON.parse(readFileSync(FINDINGS, 'utf8'));
  t.same(findings[check], kept[check], 'each damage is found in all that it touches, and nowhere else');
}

async function closedBooks(fixture: Fixture): Promise<Names> {
  const names = await populate(fixture);
  await fixture.query('alter table transfers disable trigger transfers_append_only');
  await fixture.query("update transfers set created_at = created_at - interval '2 days' where id <= 7");
  await fixture.query("update transfers set created_at = created_at - interval '1 day' where id > 7");
  await fixture.query('update usage_days set day = day - 1');
  await fixture.query('alter table transfers enable trigger transfers_append_only');
  const { seals } = await closeBooks(fixture.storage, { maxPage: 4, forMs: 60_000 });
  if (seals.length !== 2) throw new Error(`sealed ${seals.length} days instead of 2`);
  return names;
}

t.test('a check finds nothing in true books and every kind of damage in their open part', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  await using owner = openStorage({ databaseUrl: ownerUrl(fixture.url), maxConnections: 1, connectTimeoutMs: 30_000 });
  const names = await populate(fixture);
  t.same(await checkLedger(storage), []);
  t.same(await wholeCheck(storage), []);

  for (const [rule, damages] of Object.entries(DAMAGE))
    for (const damage of damages) {
      const found = await withDamage(owner, withNames(damage, names), checkLedger);
      t.ok(
        found.some((violation) => violation.rule === rule),
        `${rule}: ${damage}`,
        { found },
      );
      noteFindings('open', damage, found, names);
    }
  for (const [rule, damages] of Object.entries(HIDDEN_DAMAGE))
    for (const damage of damages) {
      const found = await withDamage(owner, withNames(damage, names), wholeCheck);
      t.match(
        found.map((violation) => violation.rule),
        [rule],
        damage,
      );
      noteFindings('hidden', damage, found, names);
    }
  for (const [rule, changes] of Object.entries(ALLOWED))
    for (const change of changes) {
      const found = await withDamage(owner, withNames(change, names), wholeCheck);
      t.notOk(
        found.some((violation) => violation.rule === rule),
        `not ${rule}: ${change}`,
        { found },
      );
      noteFindings('allowed', change, found, names);
    }
  sameAsKept(t, 'allowed');
  sameAsKept(t, 'open');
  sameAsKept(t, 'hidden');
  t.same(await checkLedger(storage), [], 'the books are as they were');

  const sources = await query<{ text: string }>(
    "select prosrc as text from pg_proc where proname like 'check\\_%' and pronamespace = 'public'::regnamespace",
  );
  const rules = new Set(
    sources.flatMap(({ text }) => [...text.matchAll(/^select '(\w+)'/gm)].map((match) => match[1]!)),
  );
  t.ok(rules.size > 20);
  t.same(
    [...rules].toSorted(),
    Object.keys({ ...DAMAGE, ...CLOSED_DAMAGE, ...HIDDEN_DAMAGE }).toSorted(),
    'no rule without its damage',
  );
});

t.test('damage to closed and sealed days is found by reading everything', async (t) => {
  const fixture = await open(t);
  await using owner = openStorage({ databaseUrl: ownerUrl(fixture.url), maxConnections: 1, connectTimeoutMs: 30_000 });
  const names = await closedBooks(fixture);
  t.same(await wholeCheck(fixture.storage), []);
  for (const [rule, damages] of Object.entries(CLOSED_DAMAGE))
    for (const damage of damages) {
      const found = await withDamage(owner, withNames(damage, names), wholeCheck);
      t.ok(
        found.some((violation) => violation.rule === rule),
        `${rule}: ${damage}`,
        { found },
      );
      noteFindings('sealed', damage, found, names);
    }
  for (const damages of Object.values({ ...DAMAGE, ...HIDDEN_DAMAGE }))
    for (const damage of damages) {
      const found = await withDamage(owner, withNames(damage, names), wholeCheck);
      t.not(found.length, 0, damage);
      noteFindings('closed', damage, found, names);
    }
  sameAsKept(t, 'sealed');
  sameAsKept(t, 'closed');
  t.same(await wholeCheck(fixture.storage), [], 'the books are as they were');
});

t.test('the whole check writes nothing, as on a replica, and a gateway may run it', async (t) => {
  const fixture = await open(t);
  await closedBooks(fixture);
  const url = new URL(roleUrl(fixture.url, GATEWAY_ROLE));
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  await using replica = openStorage({ databaseUrl: url.href, maxConnections: 1, connectTimeoutMs: 30_000 });
  t.same(await sql`show transaction_read_only`.execute(replica.db).then(({ rows }) => rows), [
    { transaction_read_only: 'on' },
  ]);
  t.same(await wholeCheck(replica), []);
});

t.test('polls of a sealed day may be deleted once its seal says so', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const { $running } = await closedBooks(fixture);
  const ended = `select id from polls where id <> '${$running}' and status <> 'running'`;
  await query(`delete from votes where poll_id in (${ended})`);
  await query(`delete from results where poll_id in (${ended})`);
  await query(`delete from polls where id in (${ended})`);
  t.match(await wholeCheck(storage), [{ rule: 'hold_without_poll' }, { rule: 'hold_without_poll' }]);
  await query('update ledger_seals set polls_kept = false');
  t.same(await wholeCheck(storage), []);
});

t.test('transfers are append-only, even for their owner', async (t) => {
  const fixture = await open(t);
  const { query } = fixture;
  await populate(fixture);
  const before = await query('select md5(string_agg(t::text, $1 order by id)) from transfers t', ['|']);
  for (const sql of [
    'update transfers set amount_u = 1',
    "update transfers set created_at = now() where kind = 'hold'",
    'delete from transfers',
    'truncate transfers cascade',
  ])
    await t.rejects(query(sql), { code: 'EP001' }, sql);
  t.same(await query('select md5(string_agg(t::text, $1 order by id)) from transfers t', ['|']), before);
});

t.test('the database itself refuses what the auditor would find', async (t) => {
  const fixture = await open(t);
  const { query } = fixture;
  const names = await populate(fixture);
  const refused: [string, string][] = [
    [`update balances set posted_u = held_u - 1 where account_id = '$user'`, 'balances_available'],
    [`${FORGED} 'credit', ${OPERATOR}, '$user', 0, null, null`, 'transfers_amount'],
    [`${FORGED} 'credit', ${OPERATOR}, '$user', -1, null, null`, 'transfers_amount'],
    [`${FORGED} 'credit', ${OPERATOR}, '$user', 1000000000000001, null, null`, 'transfers_amount'],
    [
      `${FORGED} 'void', debit, credit, amount_u, pending_id, poll_id from transfers where kind = 'post' and poll_id = '$done'`,
      'transfers_resolved_once',
    ],
    [`update votes set option = null, billed_u = max_cost_u + 1 where poll_id = '$done'`, 'votes_only_votes_billed'],
  ];
  for (const [sql, constraint] of refused)
    await t.rejects(
      query(sql.replace(/\$\w+/g, (name) => names[name as keyof typeof names])),
      { name: 'error', constraint },
      `${constraint}: ${sql}`,
    );
});
