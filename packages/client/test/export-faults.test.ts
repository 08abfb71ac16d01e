import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import t from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { answered, usedOffline } from './offline.ts';
import { batch, batchResult, jsonLines } from './service.ts';

// Long lists in pipes, and exports whose file has something else.

const exported = (user_id: string) => [
  { type: 'account', user_id },
  { type: 'cursor', cursor: 'c1' },
  { type: 'poll', id: 1 },
  { type: 'end' },
];
/** The export of an account, from the start or after its cursor. */
const exporting = (user_id: string) => (path: string) =>
  new Response(jsonLines(exported(user_id).slice(path.includes('cursor=c1') ? 2 : 0)));

t.test('an export is completed only from the account that it is of', async (t) => {
  const out = join(t.testdir(), 'export.jsonl');
  const argv = ['export', '--out', out];
  for (const kept of [exported('a').slice(0, 2), exported('a')]) {
    writeFileSync(out, jsonLines(kept));
    const other = await usedOffline(t, argv, exporting('b'));
    t.match(other, { exit: EXIT.usage, err: /has the export of another account/ });
    t.equal(readFileSync(out, 'utf8'), jsonLines(kept));
    t.equal((await usedOffline(t, argv, exporting('a'))).exit, EXIT.winner);
    t.equal(readFileSync(out, 'utf8'), jsonLines(exported('a')));
  }
});

t.test('an export into a file says in JSON that it is complete', async (t) => {
  const out = join(t.testdir(), 'export.jsonl');
  const argv = ['export', '--out', out, '--json'];
  for (const added of [4, 0]) {
    const said = await usedOffline(t, argv, exporting('a'));
    t.same([JSON.parse(said.out), said.err], [{ out, added }, '']);
  }
});

t.test('a reader that is slower than the service does not fill the memory', async (t) => {
  const text = 'x'.repeat(1_000);
  const polls = Array.from({ length: 200 }, (_, id) => ({ type: 'poll', id, text }));
  const rows = Array.from({ length: 200 }, (_, i) => batchResult(i + 1, { custom_id: text }));
  for (const [argv, lines] of [
    [['export'], [...polls, { type: 'end' }]],
    [['batch', 'pb_1', '--out', '-'], rows],
  ] as const) {
    let most = 0;
    let written = '';
    const out = new Writable({
      highWaterMark: 4_000,
      write(piece, _encoding, done) {
        most = Math.max(most, out.writableLength);
        written += piece;
        setImmediate(done);
      },
    });
    const answer = (path: string) =>
      path.startsWith('/api/batches/pb_1') && !path.endsWith('/results')
        ? answered(batch(200, 200))
        : new Response(jsonLines(lines));
    const { exit, err } = await usedOffline(t, [...argv], answer, { out });
    t.equal(exit, EXIT.winner, err);
    await new Promise((done) => out.end(done));
    t.equal(written, jsonLines(lines), argv[0]);
    t.ok(most < 10_000, `${most} characters were kept`);
  }
});
