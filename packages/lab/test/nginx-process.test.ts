import { readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { startNginx } from '../src/fixture/nginx-process.ts';

const start = () => startNginx(() => '');

/** From now on, `nginx` is this script. Resolves to the folder in which it is run. */
function nginxIs(t: Test, script: string): string {
  const folder = t.testdir({ bin: {}, temporary: {} });
  const text = `#!/bin/sh\n[ "$1" = -v ] && echo nginx version: nginx/1.0.0 && exit\n${script}\n`;
  writeFileSync(join(folder, 'bin/nginx'), text, { mode: 0o755 });
  const { PATH, TMPDIR } = process.env;
  Object.assign(process.env, { PATH: `${join(folder, 'bin')}${delimiter}${PATH}`, TMPDIR: join(folder, 'temporary') });
  t.teardown(() => {
    process.env.PATH = PATH;
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  return join(folder, 'temporary');
}

t.test('an nginx that refuses its configuration is quoted, and leaves no folder', async (t) => {
  const folder = nginxIs(t, 'echo unknown directive > "$2/errors.log"; exit 1');
  await t.rejects(start(), { message: /nginx did not start: unknown directive/ });
  t.same(readdirSync(folder), []);
});

t.test('an nginx that was killed at its start is not waited for', async (t) => {
  const folder = nginxIs(t, 'echo out of memory > "$2/errors.log"; kill -9 $$');
  await t.rejects(start(), { message: /nginx did not start: out of memory/ });
  t.same(readdirSync(folder), []);
});
