import t from 'tap';
import { connectionTo } from '../src/copy-postgres.ts';

t.test('the password of a primary is not among the settings of its standby, which are a command line', async (t) => {
  const { primary_conninfo, env } = connectionTo('postgres://postgres:h%2Fush@127.0.0.1:5432/postgres');
  t.equal(primary_conninfo, 'host=127.0.0.1 port=5432 user=postgres application_name=standby');
  t.same(env, { PGPASSWORD: 'h/ush' });
});
