import { readdirSync } from 'node:fs';
import t from 'tap';
import { functionText } from '../src/migrations/function-text.ts';
import { type Fixture, open } from './fixtures.ts';

// sql/ holds the present text of every function. A migration loads it; what is changed in the file without a migration
// that loads it again differs from a migrated database, as does what a migration defines elsewhere.

const FILES = readdirSync(new URL('../sql/', import.meta.url)).map((file) => file.replace(/\.sql$/, ''));

async function functionsOf({ query }: Fixture): Promise<Record<string, string>> {
  const rows = await query<{ name: string; text: string }>(`
    select proname as name, pg_get_functiondef(oid) as text from pg_proc
     where pronamespace = 'public'::regnamespace order by proname`);
  return Object.fromEntries(rows.map(({ name, text }) => [name, text]));
}

t.test('each function of a migrated database has the text of its file', async (t) => {
  const fixture = await open(t);
  const { query } = fixture;
  const migrated = await functionsOf(fixture);
  t.same(Object.keys(migrated), FILES.toSorted(), 'one file for each, and each function in one');
  for (const name of FILES) {
    await query('begin');
    await query(`drop function ${name} cascade`);
    await query(functionText(name));
    t.equal((await functionsOf(fixture))[name], migrated[name], name);
    await query('rollback');
  }
});

t.test('a function that differs from its file is seen', async (t) => {
  const fixture = await open(t);
  const migrated = (await functionsOf(fixture)).ledger_hold;
  const text = functionText('ledger_hold');
  await fixture.query(text.replace('return found', 'return true'));
  t.not((await functionsOf(fixture)).ledger_hold, migrated);
  await fixture.query(text);
  t.equal((await functionsOf(fixture)).ledger_hold, migrated);
});
