import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { testDatabase } from '@eloquentpoll/testkit/database';
import t from 'tap';
import { asTable } from '../db/as-table.ts';
import { runShell } from '../db/shell.ts';

const url = await testDatabase(t);

async function shell(statements: readonly string[], lines = ''): Promise<{ code: number; output: string }> {
  const output = new PassThrough();
  const printed = text(output);
  const code = await runShell({ url, statements, input: Readable.from([lines]), output });
  output.end();
  return { code, output: await printed };
}

t.test('a statement prints its rows; one that fails prints why and ends with 1', async (t) => {
  const { code, output } = await shell(["select 1 as one, null as nothing, array['a'] as list"]);
  t.equal(code, 0);
  t.equal(output, ' one | nothing | list\n-----+---------+-------\n 1   |         | ["a"]\n(1 row)\n');
  t.match(await shell(['selec']), { code: 1, output: /ERROR: syntax error/ });
});

t.test('lines are read until the semicolon, \\d lists and describes, \\q ends', async (t) => {
  const { output } = await shell([], 'select 1\n as one;\n\\d\n\\d polls\n\\d nowhere\n\\x\n\\q\nselect 2 as two;\n');
  t.match(output, / one\n-----\n 1\n\(1 row\)/);
  t.match(output, /^ polls +\| table/m);
  t.match(output, /^ deadline_at +\| timestamp/m);
  t.match(output, /There is no table nowhere\./);
  t.match(output, /Statements end with ;/);
  t.notMatch(output, /two/);
});

t.test('a database that does not answer is one sentence without the password', async (t) => {
  const options = { url: 'postgres://u:hush@127.0.0.1:1/db', statements: ['select 1'] };
  const failure = runShell({ ...options, input: Readable.from([]), output: new PassThrough() });
  await t.rejects(failure, { name: 'Failure', message: /^The database at 127\.0\.0\.1:1 does not answer/ });
  await failure.catch(({ message }) => t.notMatch(message, /hush/));
});

t.test('long cells are cut and line breaks become blanks', async (t) => {
  const table = asTable({ fields: [{ name: 'a' }], rows: [{ a: `x\ny${'z'.repeat(100)}` }] });
  t.match(table.split('\n')[2], /^ x yz{56}…$/);
});
