import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import t from 'tap';

// What every image loads before its program, tried without an image.

const files = join(root, 'infra/image');

/** Sends the signal once the program says that it runs; resolves with its code, or with the signal that ended it. */
async function ended(signal: NodeJS.Signals, program: string, loaded: string[]): Promise<number | NodeJS.Signals> {
  const imports = loaded.map((name) => `--import=${join(files, name)}`);
  const text = `${program}; setTimeout(() => {}, 60_000); console.log('runs')`;
  const child = spawn(process.execPath, [...imports, '--eval', text], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const end = once(child, 'exit');
  await once(child.stdout, 'data');
  child.kill(signal);
  const [code, by] = await end;
  return code ?? by;
}

t.test('every image loads files that it has', async (t) => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const entries = [...dockerfile.matchAll(/^ENTRYPOINT (.*)$/gm)].map(([, entry]) => JSON.parse(entry!) as string[]);
  t.equal(entries.length, 2);
  t.match(dockerfile, 'install -m 0444 infra/image/*.mjs /runtime/app/');
  for (const entry of entries) {
    const loaded = entry.flatMap((flag) => /^--import=\/app\/(.+)$/.exec(flag)?.[1] ?? []);
    t.same(loaded, ['end-on-signal.mjs', 'secret-files.mjs']);
    for (const name of loaded) t.ok(existsSync(join(files, name)), name);
  }
});

// The kernel drops a signal that the first process of a container does not listen for. Here it would end the process, but by
// the signal and not with a code.
t.test('a program that listens for no signal is ended by one, as the first process of a container too', async (t) => {
  t.equal(await ended('SIGTERM', '0', []), 'SIGTERM', 'without the file nothing listens');
  t.equal(await ended('SIGTERM', '0', ['end-on-signal.mjs']), 143);
  t.equal(await ended('SIGINT', '0', ['end-on-signal.mjs']), 130);
});

t.test('a program that listens ends in its own order', async (t) => {
  const drains = "process.on('SIGTERM', () => setTimeout(() => process.exit(7), 50))";
  t.equal(await ended('SIGTERM', drains, ['end-on-signal.mjs']), 7);
  const drainsOnce = drains.replace('.on(', '.once(');
  t.equal(await ended('SIGTERM', drainsOnce, ['end-on-signal.mjs']), 7);
});

const withSecrets = (env: NodeJS.ProcessEnv) =>
  spawnSync(
    process.execPath,
    [`--import=${join(files, 'secret-files.mjs')}`, '--print', 'JSON.stringify(process.env)'],
    { env, encoding: 'utf8' },
  );

t.test('a secret in a file becomes a setting; what cannot be read ends the start and says what to do', async (t) => {
  const file = join(t.testdir({ secret: 'hush\n' }), 'secret');
  const others = { MODELS_FILE: 'openrouter', AWS_WEB_IDENTITY_TOKEN_FILE: '/var/run/token', SSL_CERT_FILE: '/etc/x' };
  const { status, stdout } = withSecrets({ KEY_PEPPER_FILE: file, COOKIE_SECRETS_FILE: '', ...others });
  t.equal(status, 0);
  t.same(
    JSON.parse(stdout),
    { KEY_PEPPER: 'hush', COOKIE_SECRETS_FILE: '', ...others },
    'those of others are left alone',
  );
  t.match(withSecrets({ KEY_PEPPER_FILE: `${file}s` }), {
    status: 2,
    stderr:
      /^KEY_PEPPER_FILE: .*secrets cannot be read \(ENOENT\): mount it below \/run, or leave KEY_PEPPER_FILE out\n$/,
  });
  t.match(withSecrets({ KEY_PEPPER_FILE: file, KEY_PEPPER: 'x' }), { status: 2, stderr: /are both set: keep one/ });
});
