import { chmodSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { loadPanels } from '@eloquentpoll/models/panels';
import { runProgram } from '@eloquentpoll/services/run-program';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t, { type Test } from 'tap';
import { createFundedAccount } from '../src/fixture/accounts.ts';
import { anyQuestion, fixtureSpec, submit } from '../src/fixture/polls.ts';
import { openStores } from '../src/fixture/stores.ts';
import { backUpAndRestore } from '../src/lists/back-up.ts';
import { chance } from '../src/terminal/chance.ts';

// slow: 10 s

t.test('a plain owner restores a dump with an extension of the superuser and a running poll', async (t) => {
  await using stores = await openStores({
    databaseUrl: requireEnv('TEST_DATABASE_URL'),
    redisUrl: requireEnv('TEST_REDIS_URL'),
  });
  const spec = fixtureSpec(loadPanels({ file: 'simulator' }), anyQuestion(chance('a poll that runs')));
  const pollId = await submit(stores, await createFundedAccount(stores.storage), spec, 60_000);
  // As it is when the dump is restored days later.
  await stores.query("update polls set deadline_at = now() - interval '5 minutes' where id = $1", [pollId]);
  const done = await backUpAndRestore(stores);
  // The next test needs no client of Postgres.
  if (typeof done === 'string') t.comment(done);
  else
    t.match(done, {
      said: /polls that were running: 1; .*\nrestored: 1 polls, 2 transfers, the books balance$/,
      isReadableBefore: false,
      violated: ['poll_overdue'],
    });
  const page = readFileSync(join(root, 'infra/backup/README.md'), 'utf8');
  const [, steps = ''] = page.split('## Restoring after a loss');
  const places = ['`migrate.js`', '`check-ledger.js --full`', 'start workers'].map((what) => steps.indexOf(what));
  t.ok(places[0]! > 0 && places[0]! < places[1]! && places[1]! < places[2]!, 'and the page has this order');
});

const ENTRIES = `;
; Archive created at 2026-11-21 03:00:00 UTC
;
2; 3079 16398 EXTENSION - pg_stat_statements
4571; 0 0 COMMENT - EXTENSION pg_stat_statements
260; 1259 16500 TABLE public transfers eloquentpoll
4500; 0 16500 TABLE DATA public transfers eloquentpoll
`;

/** Two polls ran when the dump was made; nothing else is against the rules of the ledger. */
const PSQL = `#!/bin/sh
echo "$PGOPTIONS" >>"$SEEN/options"
case $* in
  *check_ledger*poll_overdue*) echo 0 ;;
  *check_ledger* | *"status = 'running'"*) echo 2 ;;
  *) echo 0 ;;
esac
`;

/** Programs of Postgres that only note what they were asked for. */
function standIns(t: Test, pgRestore: string, psql = PSQL) {
  const folder = t.testdir({
    entries: ENTRIES,
    psql,
    pg_restore: pgRestore,
  });
  for (const name of ['psql', 'pg_restore']) chmodSync(join(folder, name), 0o755);
  writeFileSync(join(folder, 'options'), '');
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}`, SEEN: folder, DATABASE_URL: 'postgres://x/y' };
  const restore = () => runProgram('sh', [join(root, 'infra/backup/restore.sh'), 'a.dump'], { env }, 30_000);
  return { restore, seen: (name: string) => readFileSync(join(folder, name), 'utf8') };
}

t.test(
  'only extensions and what is said about them are left out, and no statement is ended for its length',
  async (t) => {
    const { restore, seen } = standIns(
      t,
      `#!/bin/sh
if [ "$1" = --list ]; then cat "$SEEN/entries"; exit; fi
for argument; do case $argument in --use-list=*) cat "\${argument#*=}" >"$SEEN/used" ;; esac; done
`,
    );
    const { ok, output } = await restore();
    t.ok(ok, output);
    t.match(output, 'polls that were running: 2; workers continue them', 'which are no fault of the books');
    t.equal(
      seen('used'),
      ENTRIES.split('\n')
        .filter((line) => !line.includes(' EXTENSION '))
        .join('\n'),
    );
    const options = seen('options').trim().split('\n');
    t.ok(options.length >= 5 && options.every((line) => /-c statement_timeout=0\b/.test(line)), options.join('; '));
  },
);

t.test('a database that is not empty is left as it is, and what to do is said', async (t) => {
  const { restore, seen } = standIns(t, '#!/bin/sh\necho "$*" >>"$SEEN/used"\n', '#!/bin/sh\necho 5\n');
  t.match(await restore(), { ok: false, output: /it has 5 tables\. Create a new one\./ });
  t.throws(() => seen('used'), { code: 'ENOENT' });
});

t.test('a file that is no dump is not restored', async (t) => {
  const { restore } = standIns(t, '#!/bin/sh\n[ "$1" != --list ] || { echo "no archive" >&2; exit 1; }\n');
  t.match(await restore(), { ok: false, output: /no archive/ });
});

t.test('a dump removes the oldest of those that are kept, and what a dump that was killed has left', async (t) => {
  const names = (...days: number[]) => days.map((day) => `eloquentpoll-2020-01-0${day}T0300Z.dump`);
  const [killed, growing] = ['eloquentpoll-2020-01-01T0300Z.dump.part', 'eloquentpoll-2020-01-09T0300Z.dump.part'];
  const others = ['a.dump.part', ...names(2, 3), killed, growing];
  const base = t.testdir({
    dumps: Object.fromEntries(others.map((name) => [name, ''])),
    programs: {
      pg_dump: `#!/bin/sh\nfor argument; do case $argument in --file=*) echo data >"\${argument#*=}" ;; esac; done\n`,
      pg_restore: '#!/bin/sh\necho "TABLE DATA public transfers"\n',
    },
  });
  const [folder, programs] = [join(base, 'dumps'), join(base, 'programs')];
  const twoDaysAgo = Date.now() / 1_000 - 2 * 86_400;
  for (const name of ['a.dump.part', killed]) utimesSync(join(folder, name), twoDaysAgo, twoDaysAgo);
  for (const name of ['pg_dump', 'pg_restore']) chmodSync(join(programs, name), 0o755);
  const env = { ...process.env, PATH: `${programs}:${process.env.PATH}`, DATABASE_URL: 'postgres://x/y' };
  const { ok, output } = await runProgram('sh', [join(root, 'infra/backup/dump.sh'), folder, '2'], { env }, 30_000);
  t.ok(ok, output);
  const [made = ''] = output.trim().split('/').slice(-1);
  t.match(made, /^eloquentpoll-.*\.dump$/);
  t.same(readdirSync(folder).toSorted(), ['a.dump.part', ...names(3), growing, made].toSorted());
});
