import t from 'tap';
import { stepHashes } from '../src/index.ts';
import { migrations } from '../src/migrations/index.ts';
import released from '../src/migrations/released.json' with { type: 'json' };

// During a deploy, processes of the previous release work on a database that has the new schema already. So a migration
// only adds: what it would remove, rename or make stricter waits until no process is left that knows it.

const RULES: readonly [RegExp, string][] = [
  [/\bdrop\s+(table|column|view|type|function|sequence|schema)\b/i, 'drops what an older process reads'],
  [/\brename\b/i, 'takes away a name'],
  [/\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b/i, 'changes a type'],
  [/\bset\s+not\s+null\b/i, 'refuses rows that an older process writes'],
  [/\bdrop\s+default\b/i, 'refuses rows that an older process writes'],
  [/\badd\s+column\b(?=[^,;]*\bnot\s+null\b)(?![^,;]*\b(default|generated)\b)/i, 'adds a column that older rows lack'],
  [/\badd\s+(constraint\s+\w+\s+)?(check|unique|foreign\s+key|primary\s+key|exclude)\b/i, 'is stricter than it was'],
  [/(^|;)\s*truncate\b/i, 'takes away'],
];

const problemsOf = (sql: string): string[] => {
  const statements = sql.replace(/--.*$/gm, '').replace(/\$\$[\s\S]*?\$\$/g, '');
  return RULES.flatMap(([pattern, sentence]) => (pattern.test(statements) ? [sentence] : []));
};

t.test('migrations only add, from the first one on', (t) => {
  t.equal(migrations[0]?.name, '0001-accounts');
  for (const { name, sql } of migrations) t.same(problemsOf(sql()), [], name);
  t.end();
});

t.test('what is not an addition is seen', (t) => {
  for (const sql of [
    'drop table polls',
    'alter table polls drop column entry_point, add column x int',
    'alter table polls rename column entry_point to way_in',
    'alter table polls rename to old_polls',
    'alter table results alter column detail type json using detail::json',
    'alter table results alter detail set data type json',
    'alter table polls alter column request_id set not null',
    'alter table polls alter column claims drop default',
    'alter table polls add column lane text not null',
    'alter table polls\n  add column a int default 0,\n  add column b int not null check (b > 0)',
    'alter table polls add constraint p check (claims < 10)',
    'alter table polls add unique (entry_point)',
    'drop function accept_poll(jsonb)',
    'truncate idempotency',
  ])
    t.not(problemsOf(sql).length, 0, sql);
  for (const sql of [
    'alter table polls add column lane text',
    'alter table polls add column lane text not null default 1',
    'create index on polls (lane); drop index polls_account',
    'alter table deposits drop constraint deposits_tx_hash_key',
    'create or replace function f() returns int language plpgsql as $$ begin truncate x; return 1; end $$',
    '-- drop table polls\ncreate table more (a int not null, unique (a))',
  ])
    t.same(problemsOf(sql), [], sql);
  t.end();
});

type Steps = Readonly<Record<string, string>>;

/** Where the steps of a release are not, in its order and with its tables, the first of these. */
function changesOf(releases: Readonly<Record<string, Steps>>, steps: Steps): string[] {
  const present = Object.entries(steps);
  return Object.entries(releases).flatMap(([version, kept]) =>
    Object.entries(kept).flatMap(([name, hash], i) => {
      const [here, hashHere] = present[i] ?? ['nothing'];
      if (here !== name) return [`${version} has ${name} where ${here} is`];
      return hashHere === hash ? [] : [`${name} is not what ${version} has`];
    }),
  );
}

t.test('what a release contains is never edited: a correction is the next step', (t) => {
  t.same(changesOf(released, stepHashes()), []);
  t.end();
});

t.test('an edit, a removal and a step in between of released ones are seen; a step after them is not', (t) => {
  const releases = { '2.0.0': { one: 'a', two: 'b' } };
  t.same(changesOf(releases, { one: 'a', two: 'b', three: 'c' }), []);
  t.same(changesOf(releases, { one: 'a', two: 'x' }), ['two is not what 2.0.0 has']);
  t.same(changesOf(releases, { one: 'a' }), ['2.0.0 has two where nothing is']);
  t.same(changesOf(releases, { one: 'a', more: 'c', two: 'b' }), ['2.0.0 has two where more is']);
  t.end();
});
