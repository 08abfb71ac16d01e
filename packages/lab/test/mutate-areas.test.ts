import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import t from 'tap';
import { AREAS } from '../src/mutate/areas.ts';

t.test('every area of `npm run mutate` names files that exist', async (t) => {
  for (const { name, files, tests } of AREAS)
    t.same(
      [...files, ...tests].filter((file) => !existsSync(join(root, file))),
      [],
      name,
    );
});
