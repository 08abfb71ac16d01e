import { FOLLOWED } from '@eloquentpoll/services/copy-postgres';
import { databaseOn, queryOnce } from '@eloquentpoll/services/databases';
import { startPostgres } from '@eloquentpoll/services/postgres';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { migrate, openStorage, readFleetFigures } from '../src/index.ts';
import { GENEROUS } from './fixtures.ts';

// slow: 15 s

t.test('an archive that fails is seen until it works again', async (t) => {
  const group = await openThrowAwayGroup('an archive', { neededMb: 300, inMemory: true });
  t.teardown(() => group[Symbol.asyncDispose]());
  const settings = { ...FOLLOWED, archive_mode: 'on' };
  const { url } = await startPostgres({ group, password: 'secret', durable: false, stage: 1, settings });
  await queryOnce(url, 'create database ep');
  const databaseUrl = databaseOn(url, 'ep');
  await migrate(databaseUrl);
  await using storage = openStorage({ databaseUrl, ...GENEROUS });
  /** After another segment, because the archiver may have taken the last one before it had read its new command. */
  const fails = async () => {
    await queryOnce(url, "select pg_logical_emit_message(true, 'test', 'text')");
    await queryOnce(url, 'select pg_switch_wal()');
    return (await readFleetFigures(storage)).archiveFails;
  };
  const archiveWith = async (command: string) => {
    await queryOnce(url, `alter system set archive_command = '${command}'`);
    await queryOnce(url, 'select pg_reload_conf()');
  };
  await archiveWith('true');
  t.equal(await fails(), false);
  await archiveWith('false');
  await eventually('it fails', fails);
  await archiveWith('true');
  await eventually('it works again', async () => !(await fails()));
});
