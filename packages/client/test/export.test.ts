import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { used } from './commands.ts';
import { type Answering, jsonLines, withoutWaiting } from './service.ts';

// `export` and `delete`.

t.test('an export that broke off goes on after its last cursor', async (t) => {
  const lines = [
    { type: 'account' },
    { type: 'cursor', cursor: 'c1' },
    { type: 'poll', id: 1 },
    { type: 'poll', id: 2 },
    { type: 'cursor', cursor: 'c2' },
    { type: 'transfer' },
    { type: 'end' },
  ];
  const from = (path: string) => ({ c1: 2, c2: 5 })[new URL(path, 'http://x').searchParams.get('cursor') ?? ''] ?? 0;
  withoutWaiting(t);
  // The first answer breaks off inside of a part; the second ends early, as a replica that shuts down ends it.
  const breaking: Answering = ({ path }, response, nth) => {
    response.writeHead(200, { 'content-type': 'application/jsonl' });
    if (nth === 1) return void response.write(jsonLines(lines.slice(0, 3)), () => response.socket?.destroy());
    return void response.end(jsonLines(nth === 2 ? lines.slice(from(path), 5) : lines.slice(from(path))));
  };
  const out = join(t.testdir(), 'export.jsonl');
  const whole = await used(t, ['export', '--out', out], breaking);
  t.equal(whole.exit, EXIT.winner, whole.err);
  t.equal(readFileSync(out, 'utf8'), jsonLines(lines));
  t.same(
    whole.asked.map(({ path }) => path),
    ['/api/export', '/api/export?cursor=c1', '/api/export?cursor=c2'],
  );
  writeFileSync(out, `${jsonLines(lines.slice(0, 3))}{"type":"po`);
  const completed = await used(t, ['export', '--out', out], (asked, response) => breaking(asked, response, 3));
  t.equal(completed.err, `${out} is complete: 5 lines added.\n`);
  t.equal(readFileSync(out, 'utf8'), jsonLines(lines));
  t.match(await used(t, ['export', '--out', out]), { err: `${out} was already complete.\n`, asked: { length: 0 } });
});

t.test('two commands that export into one file write it once', async (t) => {
  const lines = [{ type: 'account' }, { type: 'cursor', cursor: 'c1' }, { type: 'poll', id: 1 }, { type: 'end' }];
  const { promise: both, resolve } = Promise.withResolvers<void>();
  const answering: Answering = async (_asked, response) => {
    response.writeHead(200, { 'content-type': 'application/jsonl' });
    response.write(jsonLines(lines.slice(0, 2)));
    await both;
    response.end(jsonLines(lines.slice(2)));
  };
  const folder = t.testdir();
  const out = join(folder, 'export.jsonl');
  const exporting = () => used(t, ['export', '--out', out], answering);
  const commands = [exporting(), exporting()];
  await eventually('one has begun', () => existsSync(out) && readFileSync(out, 'utf8').includes('c1'));
  resolve();
  const said = await Promise.all(commands);
  t.same(
    said.map(({ exit }) => exit),
    [EXIT.winner, EXIT.winner],
  );
  t.equal(readFileSync(out, 'utf8'), jsonLines(lines));
  t.match(said.map(({ err }) => err).join(''), /waiting until it ends.*was already complete/s);
  t.same(readdirSync(folder), ['export.jsonl']);
});

t.test('a file that is no export stays as it is', async (t) => {
  const out = join(t.testdir(), 'notes.jsonl');
  for (const text of ['{"type":"poll","id":1}\n', 'Notes\n', 'Notes', '\n', '[1]\n{"type":"account"}\n']) {
    writeFileSync(out, text);
    t.match(
      await used(t, ['export', '--out', out]),
      { exit: EXIT.usage, err: /has other content/, asked: { length: 0 } },
      text,
    );
    t.equal(readFileSync(out, 'utf8'), text);
  }
});

t.test('an export that always breaks at the same place has an end', async (t) => {
  withoutWaiting(t);
  const out = join(t.testdir(), 'export.jsonl');
  const first = [{ type: 'account' }, { type: 'cursor', cursor: 'c1' }];
  const { exit, asked } = await used(t, ['export', '--out', out], ({ path }, response) => {
    response.writeHead(200, { 'content-type': 'application/jsonl' });
    const lines = path.includes('cursor=c1') ? [{ type: 'poll', id: 1 }] : first;
    return void response.write(jsonLines(lines), () => response.socket?.destroy());
  });
  t.equal(exit, EXIT.unavailable);
  t.same(
    asked.map(({ path }) => path),
    ['/api/export', ...Array.from({ length: 2 }, () => '/api/export?cursor=c1')],
  );
  t.equal(readFileSync(out, 'utf8'), jsonLines(first));
});

t.test('delete asks first, and does not where it is said to', async (t) => {
  const deleting: Answering = ({ path }) => ({ deleted: true, id: path });
  const ask = (answer: string) => ({ ask: async () => answer });
  t.match(await used(t, ['delete', 'pb_1'], deleting, ask('no')), { exit: EXIT.usage, asked: { length: 0 } });
  t.match(await used(t, ['delete', 'pb_1'], deleting), { exit: EXIT.usage, err: /for good: add --yes/ });
  for (const [argv, path] of [
    [['delete', 'pb_1', '--yes'], '/api/batches/pb_1'],
    [['delete', 'EP-1', '--yes'], '/api/results/EP-1'],
  ] as const) {
    const { exit, out, asked } = await used(t, [...argv], deleting);
    t.equal(exit, EXIT.winner);
    t.equal(out, `Deleted ${argv[1]}.\n`);
    t.match(asked, [{ method: 'DELETE', path }]);
  }
  t.match(await used(t, ['delete', 'PB-1']), { exit: EXIT.usage, err: /not PB-1/ });
});
