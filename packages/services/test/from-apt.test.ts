import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { fetchWithApt } from '../src/from-apt.ts';

t.test('of several that fetch the same program at once one downloads it, and all have it', async (t) => {
  const folder = t.testdir({ bin: {} });
  const [calls, target] = [join(folder, 'calls'), join(folder, 'redis')];
  function program(name: string, lines: string): void {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${lines}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
  program('apt-get', `case "$*" in *install*) echo "$*" >> '${calls}'; sleep .3; echo > archive.deb;; esac`);
  program('dpkg', 'mkdir -p "$3/usr/bin"');
  const env = { PATH: join(folder, 'bin') };
  const fetched = Promise.all([1, 2, 3].map(() => fetchWithApt(target, [['redis-server']], env)));
  t.same(await fetched, [true, true, true]);
  t.ok(existsSync(join(target, 'usr/bin')));
  t.same(readFileSync(calls, 'utf8').trim().split('\n').length, 1);
  t.notOk(existsSync(`${target}.new`) || existsSync(`${target}.lock`));
});
