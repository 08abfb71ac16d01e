import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { Redis } from 'ioredis';
import t from 'tap';

// One server may be a Redis 6.2: scripts call nothing that came later. A cluster needs 7.0, for its own channels.

const root = fileURLToPath(new URL('../../../', import.meta.url));

t.test('every command of the scripts is one that Redis 6.2 has', async (t) => {
  const files = globSync(['packages/{bus,ops,models}/src/**/*.ts', 'apps/*/src/**/*.ts'], { cwd: root });
  const texts = files.map((file) => readFileSync(`${root}${file}`, 'utf8')).join('\n');
  const called = new Set([...texts.matchAll(/redis\.call\('(\w+)'/g)].map(([, name]) => name!));
  t.ok(called.has('ZADD') && called.size > 10, [...called].join());
  const redis = new Redis(testRedis(t).url);
  t.teardown(() => redis.disconnect());
  for (const name of called) {
    const [, facts = []] = (await redis.call('COMMAND', 'DOCS', name)) as [string, string[]];
    const since = facts[facts.indexOf('since') + 1] ?? '';
    const [major = 99, minor = 0] = since.split('.').map(Number);
    t.ok(major < 6 || (major === 6 && minor <= 2), `${name} since ${since}`);
  }
});
