import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import t, { type Test } from 'tap';
import { ordinaryUser, temporaryFolder } from './fixtures/run-fixture.ts';

const PROGRAM = join(root, 'scripts/operator/make-secrets.ts');
const SERVICES = ['postgres', 'redis', 'gateway', 'worker', 'migrate', 'operator'];

/** Volumes, which belong to the user of the image. */
function volumes(t: Test) {
  // Root may write files that cannot be written.
  const user = ordinaryUser();
  const folder = temporaryFolder(t, user);
  for (const service of SERVICES) {
    mkdirSync(join(folder, service));
    if (user.uid !== undefined) chownSync(join(folder, service), user.uid, user.gid ?? user.uid);
  }
  return {
    folder,
    run: () => spawnSync(process.execPath, [PROGRAM], { ...user, env: { SECRETS_FOLDER: folder }, encoding: 'utf8' }),
    read: (name: string) => readFileSync(join(folder, name), 'utf8').trim(),
  };
}

t.test('each service gets its secrets, the same at every start', async (t) => {
  const { folder, run, read } = volumes(t);
  t.match(run(), { status: 0, stderr: '' });
  const all = () =>
    Object.fromEntries(
      SERVICES.flatMap((service) => readdirSync(join(folder, service)).map((name) => join(service, name))).map(
        (name) => [name, read(name)],
      ),
    );
  const first = all();
  t.match(run(), { status: 0 });
  t.same(all(), first);
  t.equal(read('worker/webhook_sealing_keys'), read('gateway/webhook_sealing_keys'));
  t.equal(read('operator/key_pepper'), read('gateway/key_pepper'));
  t.match(read('worker/redis_url'), read('redis/auth.conf').split(' ')[1]!);
});

t.test('a run that was killed between writing and renaming a file does not hinder the next', async (t) => {
  const { folder, run, read } = volumes(t);
  run();
  const left = join(folder, 'gateway/key_pepper.new');
  rmSync(join(folder, 'gateway/key_pepper'));
  writeFileSync(left, 'half of');
  chmodSync(left, 0o444);
  const { uid, gid } = ordinaryUser();
  if (uid !== undefined) chownSync(left, uid, gid ?? uid);
  t.match(run(), { status: 0, stderr: '' });
  t.match(read('gateway/key_pepper'), /^[\w-]{43}$/);
});
