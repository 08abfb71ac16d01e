import { syncBuiltinESMExports } from 'node:module';
import zlib, { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { codingFor, compressed } from '../../src/http/compressed.ts';
import { Raster } from '../../src/pages/card/raster.ts';
import { assetPath, importedBy, pageAssets } from '../../src/pages/page-assets.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

t.test('the coding is the best one that the caller accepts', async (t) => {
  const cases: [string | undefined, string | null][] = [
    [undefined, null],
    ['', null],
    ['identity', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP;q=1.0, BR;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['br;q=nonsense', null],
  ];
  for (const [header, coding] of cases) t.equal(codingFor(header, 5_000), coding, String(header));
  t.equal(codingFor('br', 200), null, 'a short text');
});

t.test('what is kept takes no more memory than it has bytes', async (t) => {
  const text = '<p>Which of these is the best choice?</p>'.repeat(200);
  for (const coding of ['br', 'gzip'] as const) {
    const kept = await compressed('kept', text, coding);
    t.equal(kept.buffer.byteLength, kept.length, coding);
  }
});

t.test('one gateway for all of these', async (t) => {
  const { app, keyWith, sessionFor, context } = await build(t);
  const get = (url: string, encoding?: string, more: Record<string, string> = {}) =>
    app.inject({ url, headers: { ...(encoding && { 'accept-encoding': encoding }), ...more } });

  await standInWorker(t, context);
  const payload = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
  const { bearer, accountId } = await keyWith(10);
  const { poll_id } = (await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload })).json();

  await t.test('public texts are compressed, each form with a tag of its own', async (t) => {
    const paths = ['/?view=human', '/api/openapi.json', '/llms.txt', '/pricing', `/result/${poll_id}`];
    for (const url of [...paths, assetPath('style.css')]) {
      const [plain, br, gzip] = await Promise.all([get(url), get(url, 'br'), get(url, 'gzip')]);
      t.equal(plain.headers['content-encoding'], undefined);
      for (const answer of [plain, br, gzip]) t.match(answer.headers.vary, /Accept-Encoding/, url);
      t.match([br.headers['content-encoding'], gzip.headers['content-encoding']], ['br', 'gzip'], url);
      t.equal(brotliDecompressSync(br.rawPayload).toString(), plain.body, url);
      t.equal(gunzipSync(gzip.rawPayload).toString(), plain.body, url);
      t.ok(br.rawPayload.length < plain.rawPayload.length / 2, `${url}: less than half`);
      t.equal(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size, 3);
      t.equal((await get(url, 'br', { 'if-none-match': String(br.headers.etag) })).statusCode, 304);
      t.equal((await get(url, 'gzip', { 'if-none-match': String(br.headers.etag) })).statusCode, 200);
    }
  });

  await t.test('what carries a secret or is a stream never is', async (t) => {
    const session = await sessionFor(accountId);
    const all = { 'accept-encoding': 'br, gzip' };
    const answers = [
      await app.inject({ method: 'POST', url: '/api/keys', headers: { ...session, ...all }, payload: { label: 'x' } }),
      await app.inject({ url: '/dashboard', headers: { ...session, ...all, accept: 'text/html' } }),
      await app.inject({ url: `/result/${poll_id}`, headers: { ...session, ...all, accept: 'text/html' } }),
      await app.inject({ url: '/api/balance', headers: { ...session, ...all } }),
      await app.inject({ method: 'POST', url: '/api/poll', headers: { ...bearer, ...all }, payload }),
      await app.inject({ method: 'POST', url: '/api/poll/stream', headers: { ...bearer, ...all }, payload }),
    ];
    for (const answer of answers) {
      t.ok(answer.statusCode < 300, `${answer.statusCode}`);
      t.equal(answer.headers['content-encoding'], undefined);
    }
  });

  await t.test('assets are kept for good under the address of their version, and not under another', async (t) => {
    const asset = await get(assetPath('page.js'));
    t.match(asset.headers['cache-control'], /immutable/);
    t.match(asset.headers['content-type'], /javascript/);
    const other = await get('/assets/000000000000/page.js');
    t.match([other.statusCode, other.headers['cache-control']], [200, 'no-store']);
    t.equal((await get(`/assets/${pageAssets().version}/nothing.js`)).statusCode, 404);
    t.equal((await get(`/assets/${pageAssets().version}/..%2fpage-assets.ts`)).statusCode, 404);
  });

  await t.test('a page names every module that it will load', async (t) => {
    const page = (await get('/playground')).body;
    const imported = importedBy(['page', 'free-poll']);
    t.ok(imported.length > 3);
    for (const name of imported) t.match(page, `<link rel="modulepreload" href="${assetPath(`${name}.js`)}">`);
    for (const [, path] of page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g))
      t.equal((await get(path!)).statusCode, 200);
  });

  await t.test('icons and manifest are there', async (t) => {
    const ico = await get('/favicon.ico');
    t.equal(ico.rawPayload.readUInt16LE(2), 1);
    t.same(ico.rawPayload.subarray(22, 26), Buffer.from([0x89, 0x50, 0x4e, 0x47]));
    for (const { src } of (await get('/site.webmanifest')).json().icons) t.equal((await get(src)).statusCode, 200, src);
    t.equal((await get('/apple-touch-icon.png')).headers['content-type'], 'image/png');
  });

  await t.test('a file that could not be made is made by the next request', async (t) => {
    const emfile = new Error('EMFILE: too many open files');
    const drawing = t.intercept(Raster.prototype, 'png', { value: () => Promise.reject(emfile) });
    t.equal((await get('/og.png')).statusCode, 500);
    drawing.restore();
    t.equal((await get('/og.png')).statusCode, 200);

    const packing = t.intercept(zlib, 'gzip', { value: (_: Buffer, done: (error: Error) => void) => done(emfile) });
    syncBuiltinESMExports();
    t.equal((await get('/api/docs/reader.js')).statusCode, 500);
    packing.restore();
    syncBuiltinESMExports();
    t.equal((await get('/api/docs/reader.js')).statusCode, 200);
  });
});
