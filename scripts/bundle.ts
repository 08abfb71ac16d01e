import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '@eloquentpoll/launch/folders';
import { APPS, bundleApp } from './bundling/bundle-apps.ts';
import { bundleOperator } from './bundling/bundle-operator.ts';

// `npm run bundle [-- [--into FOLDER] APP...]`: bundles what container images run into dist/<app>/main.js. Without APP
// it bundles all apps, and the operator's commands into dist/operator.

const { values, positionals: named } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: { into: { type: 'string', default: join(root, 'dist') } },
  allowPositionals: true,
});
const unknown = named.filter((name) => !APPS.some((app) => app === name));
if (unknown.length > 0) {
  process.stderr.write(`There is no app ${unknown.join(', ')}; there are ${APPS.join(', ')}.\n`);
  process.exit(2);
}
const into = resolve(values.into);
for (const app of APPS) {
  if (named.length > 0 && !named.includes(app)) continue;
  const { file, bytes } = await bundleApp(app, into);
  process.stdout.write(`${relative(root, file)}  ${(bytes / 1024).toFixed(0)} KiB at the start\n`);
}
if (named.length === 0) await bundleOperator(into);
