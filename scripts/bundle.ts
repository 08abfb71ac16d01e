import { join } from 'node:path';
import { APPS, bundleApp } from './bundling/bundle-apps.ts';
import { bundleOperator } from './bundling/bundle-operator.ts';
import { root } from './launch/folders.mjs';

// `npm run bundle [-- APP...]`: what container images run, in dist/<app>/main.js and, where no app is named, the
// operator's one-shots in dist/operator.

const asked = process.argv.slice(2).filter((argument) => argument !== '--');
const unknown = asked.filter((name) => !APPS.some((app) => app === name));
if (unknown.length > 0) {
  process.stderr.write(`There is no app ${unknown.join(', ')}; there are ${APPS.join(', ')}.\n`);
  process.exit(2);
}
for (const app of APPS) {
  if (asked.length > 0 && !asked.includes(app)) continue;
  const { file, bytes } = await bundleApp(app, join(root, 'dist'));
  process.stdout.write(`${file.slice(root.length + 1)}  ${(bytes / 1024).toFixed(0)} KiB at the start\n`);
}
if (asked.length === 0) await bundleOperator(join(root, 'dist'));
