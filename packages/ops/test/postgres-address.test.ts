import t from 'tap';
import { postgresUrls } from '../src/postgres-address.ts';
import { readSettings, redactedSettings, SHARED_SETTINGS } from '../src/settings/index.ts';

t.test('one server, or a primary and its standbys', async (t) => {
  t.same(postgresUrls('postgres://me:p%40ss@host/db'), ['postgres://me:p%40ss@host/db']);
  t.same(postgresUrls('postgresql://me@one:1,two:2/db?target_session_attrs=read-write&sslmode=require'), [
    'postgresql://me@one:1/db?sslmode=require',
    'postgresql://me@two:2/db?sslmode=require',
  ]);
  for (const wrong of ['', 'host:5432', 'http://host/db', 'postgres://a:1,b:no/db', 'postgres://a,/db'])
    t.equal(postgresUrls(wrong), null, wrong);
  t.equal(postgresUrls('postgres://a,b/db?target_session_attrs=any'), null, 'what is not honoured is refused');
});

t.test('several hosts as a setting, shown without the password', async (t) => {
  const DATABASE_URL = 'postgres://me:secret@one:1,two:2/db';
  const table = { DATABASE_URL: SHARED_SETTINGS.DATABASE_URL };
  t.equal(readSettings(table, { DATABASE_URL }).DATABASE_URL, DATABASE_URL);
  t.same(redactedSettings(table, { DATABASE_URL }), { DATABASE_URL: 'postgres://one:1/db, postgres://two:2/db' });
});
