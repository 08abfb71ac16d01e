import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { htmlToMarkdown } from '../../src/http/html-to-markdown.ts';
import { GUIDES } from '../../src/pages/guides/index.ts';
import { type Html, html } from '../../src/pages/html.ts';
import { build } from '../fixtures/build.ts';
import { hostileTexts } from '../fixtures/hostile-texts.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 4 s

const { app, context, keyWith, sessionFor } = await build(t);
await standInWorker(t, context);
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
const POLL = {
  question: 'Which [link](https://evil.example) is | best?\n# Not a heading',
  options: ['`A` *x*', 'B | C'],
};

async function resultId(): Promise<string> {
  const { bearer } = await keyWith(5);
  const made = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: POLL });
  return made.json().poll_id;
}

t.test('what small screens show in place of a column is not said beside that column', (t) => {
  const cell = html`<th>a<span class="narrow-only small">b</span><i class="small narrow-only">c</i><b class="narrow">d</b></th>`;
  const markdown = htmlToMarkdown(String(html`<main><table><tr>${cell}</tr></table></main>`), 'https://polls.example');
  t.match(markdown, 'd');
  t.notMatch(markdown, /[bc]/);
  t.end();
});

t.test('a column that holds pictures alone is left out of a table', (t) => {
  const row = (name: string, cost: string) => html`<tr><th>${name}</th><td><svg></svg></td><td>${cost}</td></tr>`;
  const markdownOf = (rows: Html[]) =>
    htmlToMarkdown(
      String(html`<main><table><tr><th>Panel</th><th>Scale</th><th>Cost</th></tr>${rows}</table></main>`),
      'https://polls.example',
    );
  t.match(
    markdownOf([row('fast', '1'), row('broad', '')]),
    /\| Panel \| Cost \|\n\| --- \| --- \|\n\| fast \| 1 \|\n\| broad \| {2}\|/,
  );
  t.match(markdownOf([]), '| Panel | Scale | Cost |', 'a table without rows says what it would have');
  t.end();
});

t.test('every page that people read is markdown for whom asks for it, and at its address with .md', async (t) => {
  const pages = [
    '/pricing',
    '/models',
    '/surfaces',
    '/connect',
    ...GUIDES.map(({ name }) => `/guides/${name}`),
    '/api/docs',
    '/errors/rate_limited',
    `/result/${await resultId()}`,
  ];
  for (const path of pages) {
    const page = await get(path, { accept: 'text/html' });
    t.match([page.statusCode, page.headers['content-type']], [200, /^text\/html/], path);
    const mirror = await get(`${path}.md`);
    const asked = await get(path, { accept: 'text/markdown, text/html;q=0.5' });
    for (const { statusCode, headers, body } of [mirror, asked]) {
      t.match([statusCode, headers['content-type']], [200, 'text/markdown; charset=utf-8'], path);
      t.equal(headers['x-markdown-tokens'], String(Math.ceil(Buffer.byteLength(body) / 4)));
      t.match(body, /^# \S/m, path);
      t.notMatch(body, /<\/?(div|p|span|table|script|a)\b/, path);
      t.not(headers.etag, page.headers.etag, 'the forms are not the same representation');
    }
    t.equal(asked.body, mirror.body);
    t.match(asked.headers.vary, /Accept(,|$)/);
    t.match(page.headers.vary, /Accept(,|$)/);
    const again = await get(path, { accept: 'text/markdown', 'if-none-match': String(asked.headers.etag) });
    t.equal(again.statusCode, 304);
    t.equal((await app.inject({ method: 'HEAD', url: `${path}.md` })).statusCode, 200);
  }
  t.equal((await get('/result/EP-2026-01-31-4q7x2mfzk5wtb3ha.md')).statusCode, 404);
});

t.test('markdown of a public page is made once; of what only its owner sees it is made anew', async (t) => {
  const { bearer, accountId } = await keyWith(5);
  const { poll_id } = (await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: POLL })).json();
  const { cookie } = await sessionFor(accountId);
  const timesMade = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
    const calls = t.capture(String.prototype, 'matchAll', String.prototype.matchAll);
    const { statusCode } = await get(path, headers);
    calls.restore();
    t.equal(statusCode, 200, path);
    return calls().filter(({ args: [pattern] }) => String(pattern).includes('<!--')).length;
  };
  for (const path of ['/api/docs.md', '/pricing.md', `/result/${poll_id}.md`]) {
    await get(path);
    t.equal(await timesMade(path), 0, path);
  }
  for (let time = 0; time < 2; time++) t.equal(await timesMade(`/result/${poll_id}.md`, { cookie }), 1);
});

t.test('what only its style sets apart is apart as text: an option that ends in a digit and its votes', async (t) => {
  const { bearer } = await keyWith(5);
  const payload = { question: 'Which plan is the best one?', options: ['Plan 1', 'Plan 2'] };
  const { poll_id, tally } = (await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload })).json();
  const { body } = await get(`/result/${poll_id}.md`);
  for (const option of payload.options) t.match(body, new RegExp(`^- ${option} · ${tally[option]}$`, 'm'));
  t.match(body, /models asked · 20/);
});

t.test('what a caller wrote stays text: no link, heading, table or code of ours', async (t) => {
  const { body } = await get(`/result/${await resultId()}.md`);
  t.notMatch(body, /(?<!\\)\]\(https:\/\/evil/);
  t.notMatch(body, /^# Not a heading/m);
  for (const hostile of hostileTexts(200, 1)) {
    const page = `<main>${html`<h1>Poll</h1><p>${hostile}</p>`}</main>`;
    t.notMatch(htmlToMarkdown(page, 'https://polls.example'), /(?<!\\)<[a-z!/]/i, hostile);
  }
});

t.test('the converter: lists, tables, code, terms, links, and what is left out', async (t) => {
  const markdown = htmlToMarkdown(
    `<main><h2>Title &amp; more</h2><p>One <a href="/x?a=1&amp;b=2">link</a>, <strong>bold</strong> and <code>a\`b</code>.</p>
<ul><li>First</li><li>Second <ul><li>Inner</li></ul></li></ul><ol><li>One</li></ol>
<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>1 | 2</td><td><span hidden>no</span>3</td></tr></tbody></table>
<dl><div><dt>Cost</dt><dd>$1</dd></div></dl><pre><code>line 1
line 2</code></pre><form><button>Send</button></form><svg><text>drawn</text></svg><script>x()</script></main>`,
    'https://polls.example',
  );
  t.equal(
    markdown,
    `## Title & more

One [link](https://polls.example/x?a=1&b=2), **bold** and \`\`a\`b\`\`.

- First
- Second
  - Inner

1. One

| A | B |
| --- | --- |
| 1 \\| 2 | 3 |

- **Cost**: $1

\`\`\`
line 1
line 2
\`\`\`
`,
  );
});

t.test('linked data: valid JSON-LD of our own words on public pages, none on pages of polls', async (t) => {
  const isGraph = new Ajv2020().compile({
    type: 'object',
    required: ['@context', '@graph'],
    properties: {
      '@context': { const: 'https://schema.org' },
      '@graph': { type: 'array', minItems: 2, items: { type: 'object', required: ['@type', '@id', 'url', 'name'] } },
    },
  });
  for (const path of ['/', '/?view=human', '/pricing', '/models', '/surfaces', '/connect', '/guides/agents']) {
    const { body, headers } = await get(path, { accept: 'text/html' });
    const [, data = ''] = /<script type="application\/ld\+json">([^<]*)<\/script>/.exec(body) ?? [];
    t.ok(isGraph(JSON.parse(data)), `${path}: ${JSON.stringify(isGraph.errors)}`);
    t.match(headers['content-security-policy'], "script-src 'self'");
  }
  t.notMatch((await get(`/result/${await resultId()}`)).body, 'ld+json');
});
