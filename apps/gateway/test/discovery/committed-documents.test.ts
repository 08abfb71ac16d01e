import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { build } from '../fixtures/build.ts';

// The published API descriptions are committed, so that a review shows what a change does to them.
// `npm run docs:api` writes them.

const DOCUMENTS = [
  { path: '/api/openapi.json', file: 'openapi.json' },
  { path: '/asyncapi.json', file: 'asyncapi.json' },
];
const folder = new URL('../../../../docs/api/', import.meta.url);
const { app } = await build(t, { baseUrl: 'https://polls.example' });

for (const { path, file } of DOCUMENTS)
  t.test(`docs/api/${file} is what GET ${path} serves`, async (t) => {
    const served = `${JSON.stringify((await app.inject({ url: path })).json(), null, 2)}\n`;
    const at = new URL(file, folder);
    if (process.env.UPDATE_DOCS) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(at, served);
    }
    const committed = readFileSync(fileURLToPath(at), 'utf8');
    t.equal(served, committed, 'changed on purpose? run: npm run docs:api');
  });
