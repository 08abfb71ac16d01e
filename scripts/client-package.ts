import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '@eloquentpoll/launch/folders';
import { bundleClient } from './bundling/bundle-client.ts';

// `npm run client-package -- [--base-url URL] [--repository URL] [--into FOLDER]`: builds the npm package of the
// client. A workflow of the named repository publishes it with `npm publish FOLDER`.

const { values } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    'base-url': { type: 'string', default: process.env.BASE_URL ?? 'http://localhost:8080' },
    repository: { type: 'string' },
    into: { type: 'string', default: join(root, 'dist/eloquentpoll') },
  },
});
const { into, repository } = values;
await bundleClient({ into, repository, baseUrl: new URL(values['base-url']).origin });
process.stdout.write(`${relative(process.cwd(), into)}\n`);
