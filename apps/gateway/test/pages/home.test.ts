import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { prefersMarkdown } from '../../src/http/prefers-markdown.ts';
import { html } from '../../src/pages/html.ts';
import { build } from '../fixtures/build.ts';

const { app } = await build(t);
const get = (url: string, accept?: string) => app.inject({ url, headers: accept === undefined ? {} : { accept } });

t.test('[§4.7-home-agent, §4.7-home-human] a page for agents, and one for people', async (t) => {
  const [agent, human] = [await get('/'), await get('/?view=human')];
  for (const page of [agent, human]) {
    t.equal(page.statusCode, 200);
    t.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    t.equal(page.headers.vary, 'Accept, Accept-Encoding');
    t.match(page.body, /^<!doctype html>\n<html lang="en">/);
    t.equal(page.body.match(/<h1>/g)?.length, 1);
    const policy = String(page.headers['content-security-policy']);
    t.notMatch(policy, /unsafe|\*|https?:/);
    t.notMatch(page.body, /<style|<script>| on\w+=|src="http/, 'nothing that the policy would have to allow inline');
  }
  t.not(agent.body, human.body);
  t.match(agent.body, 'href="/?view=human"');
  t.match(human.body, 'href="/"');
  for (const [, path] of (agent.body + human.body).matchAll(/(?:href|src)="(\/[^"#]*)/g))
    t.ok((await get(path!)).statusCode < 400, String(path));
});

t.test('[§8-home-link] Link headers lead to the descriptions', async (t) => {
  for (const method of ['GET', 'HEAD'] as const) {
    const { headers } = await app.inject({ method, url: '/' });
    const links = [...String(headers.link).matchAll(/<([^>]+)>; rel="([a-z-]+)"(?:; type="([^"]+)")?/g)];
    const rels = links.map(([, , rel]) => rel!);
    for (const rel of ['api-catalog', 'service-desc', 'service-doc', 'describedby', 'status', 'alternate'])
      t.ok(rels.includes(rel), rel);
    for (const [, path, , type] of links) {
      const target = await get(path!, type);
      t.ok(target.statusCode < 400, String(path));
    }
  }
});

t.test('[§8-markdown-tokens, §8-content-signal] Accept prefers text/markdown: markdown instead of HTML', async (t) => {
  const answer = await get('/', 'text/markdown');
  t.equal(answer.headers['content-type'], 'text/markdown; charset=utf-8');
  t.equal(answer.headers['x-markdown-tokens'], String(Math.ceil(answer.rawPayload.length / 4)));
  t.equal(answer.headers['content-signal'], 'search=yes, ai-input=yes, ai-train=no');
  t.equal(answer.headers.vary, 'Accept, Accept-Encoding');
  t.match(answer.body, /^# EloquentPoll\n/);
  const plain = await get('/');
  t.equal(plain.headers['content-signal'], answer.headers['content-signal']);
  t.notOk(plain.headers['x-markdown-tokens']);
  t.not(plain.headers.etag, answer.headers.etag);
  const known = { accept: 'text/markdown', 'if-none-match': String(answer.headers.etag) };
  t.equal((await app.inject({ url: '/', headers: known })).statusCode, 304);
  t.equal((await get('/?view=human', 'text/markdown')).headers['content-type'], 'text/html; charset=utf-8');
});

t.test('who prefers markdown', (t) => {
  const cases: [string | undefined, boolean][] = [
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['text/*', false],
    ['text/html', false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
    ['text/markdown', true],
    ['TEXT/Markdown', true],
    ['text/markdown, text/html', true],
    ['text/html, text/markdown', true],
    ['text/markdown;q=0.9, text/html', false],
    ['text/markdown;q=0.9, text/html;q=0.8', true],
    ['text/markdown;q=0', false],
    ['text/markdown;q=0.000, */*;q=0', false],
    ['text/markdown, */*', true],
    ['text/markdown;q=0.5, */*;q=0.1', true],
    ['text/markdown;q=0.5, */*', false],
    ['text/markdown;q=0.5, text/html;q=0.1, */*', true],
    ['text/markdown; variant=CommonMark; q=1.0', true],
    ['text/markdownish', false],
    ['application/json', false],
  ];
  for (const [accept, expected] of cases) t.equal(prefersMarkdown(accept), expected, String(accept));
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (accept) => typeof prefersMarkdown(accept) === 'boolean'));
  t.end();
});

t.test('a text cannot become markup', (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const made = html`<p title="${text}">${text}</p>`.toString();
      const inside = made.slice('<p title="'.length, -'</p>'.length);
      return inside.split('">').length === 2 && !/[<']/.test(inside.replace('">', ''));
    }),
  );
  t.equal(
    html`<ul>${[html`<li>${'<b>'}</li>`, html`<li>${1}</li>`]}</ul>`.toString(),
    '<ul><li>&lt;b&gt;</li><li>1</li></ul>',
  );
  t.end();
});
