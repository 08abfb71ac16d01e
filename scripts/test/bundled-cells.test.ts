import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '@eloquentpoll/launch/folders';
import { ownerUrl, testDatabase } from '@eloquentpoll/testkit/database';
import t from 'tap';
import { bundleOperator } from '../bundling/bundle-operator.ts';

// Node lets programs of the operator image write to few folders: the one that the page of cells has the maps in is one.

t.test('the operator image writes the maps of the router to the folder that infra/cells/README.md names', async (t) => {
  const page = readFileSync(join(root, 'infra/cells/README.md'), 'utf8');
  const [, folder = ''] = /`cells\.js map --into (\/\S+)`/.exec(page) ?? [];
  t.ok(folder, 'the page names a folder');
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const stage = dockerfile.slice(dockerfile.indexOf('FROM runtime AS operator'));
  t.match(stage, `COPY --from=build --chown=65532:65532 /runtime${folder} ${folder}\n`, "which is its user's");
  t.match(dockerfile, new RegExp(`mkdir -p [^;]*/runtime${folder} `), 'and is made');
  const [, ...flags]: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(stage)?.[1] ?? '[]');

  const image = t.testdir();
  mkdirSync(join(image, folder));
  const app = await bundleOperator(image);
  const files = join(root, 'infra/image');
  const here = flags.map((flag) =>
    flag
      .replace(/=\/app(?=\/[\w-]+\.mjs$)/, `=${files}`)
      .replace(/=\/app$/, `=${app}`)
      .replace(/=\/(?=\w+$)/, `=${image}/`),
  );
  const cells = await Promise.all(['0', '1'].map(async (name) => `${name}=${ownerUrl(await testDatabase(t))}`));
  const run = (into: string) =>
    promisify(execFile)(
      process.execPath,
      [...here, `--allow-fs-read=${files}`, join(app, 'cells.js'), 'map', '--into', into],
      { env: { CELL_URLS: cells.join(' ') } },
    );
  t.match((await run(join(image, folder))).stdout, /^0 accounts and 0 results/);
  t.same(readdirSync(join(image, folder)).toSorted(), ['accounts.map', 'results.map']);
  await t.rejects(run(join(image, 'elsewhere')), { message: /ERR_ACCESS_DENIED/ }, 'and nowhere else');
});
