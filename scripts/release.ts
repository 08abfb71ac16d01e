import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { stepHashes } from '@eloquentpoll/storage';
import { datedChangelog, withRelease } from './releasing/release-files.ts';

// `npm run release`: turns this folder into the release of its version. Pending changes get the version and the date,
// and the migration steps are recorded: from then on `npm test` refuses changes to them.

const changelog = join(root, 'CHANGELOG.md');
const steps = join(root, 'packages/storage/src/migrations/released.json');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const today = new Date().toISOString().slice(0, 10);

try {
  const changes = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (changes !== '') throw new Error('files were changed: commit them first');
  const [text, kept] = [
    datedChangelog(readFileSync(changelog, 'utf8'), version, today),
    withRelease(readFileSync(steps, 'utf8'), version, stepHashes()),
  ];
  writeFileSync(changelog, text);
  writeFileSync(steps, kept);
  const tag = `v${version}`;
  console.log(`${version} is ready: git commit -am 'Release ${version}' && git tag -a ${tag} -m ${tag}`);
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
