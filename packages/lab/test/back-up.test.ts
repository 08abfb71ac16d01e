import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { runProgram } from '@eloquentpoll/services/run-program';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t, { type Test } from 'tap';
import { openStores } from '../src/fixture/stores.ts';
import { backUpAndRestore } from '../src/lists/back-up.ts';

// slow: 10 s

t.test('a dump of a database with an extension of the superuser is restored by a plain owner', async (t) => {
  await using stores = await openStores({
    databaseUrl: requireEnv('TEST_DATABASE_URL'),
    redisUrl: requireEnv('TEST_REDIS_URL'),
  });
  const done = await backUpAndRestore(stores);
  // The next test needs no client of Postgres.
  if (typeof done === 'string') t.comment(done);
  else
    t.match(done, {
      said: 'restored: 0 polls, 0 transfers, the books balance',
      isReadableBefore: false,
      violations: 0,
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

/** Programs of Postgres that only note what they were asked for. */
function standIns(t: Test, pgRestore: string) {
  const folder = t.testdir({
    entries: ENTRIES,
    psql: '#!/bin/sh\necho "$PGOPTIONS" >>"$SEEN/options"\necho 0\n',
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

t.test('a file that is no dump is not restored', async (t) => {
  const { restore } = standIns(t, '#!/bin/sh\n[ "$1" != --list ] || { echo "no archive" >&2; exit 1; }\n');
  t.match(await restore(), { ok: false, output: /no archive/ });
});
