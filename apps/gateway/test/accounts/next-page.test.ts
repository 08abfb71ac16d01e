import { randomUUID } from 'node:crypto';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { nextPageOf } from '../../src/accounts/login/next-page.ts';
import { signInLink } from '../../src/pages/sign-in-page.ts';
import { build } from '../fixtures/build.ts';
import { routesOf } from '../fixtures/routes.ts';

// slow: 3 s

// A login comes back to the page that it interrupted, and goes to no other site.

const RESULT = '/result/EP-2026-11-20-0123456789abcdef';
const QUERY = `?${new URLSearchParams({ q: 'größer als 50 % / (a + b)?', sort: 'oldest', label: 'a=b' })}`;

t.test('every page of an account that asks for a login is the one that it leads to', async (t) => {
  const { app, context } = await build(t);
  const routes = await routesOf(context);
  const pages = routes.filter(({ method, path }) => method === 'GET' && /^\/dashboard\/(?!.*export|grant)/.test(path));
  t.ok(pages.length >= 10, `${pages.length} pages`);
  const nextOn = async (url: string) => {
    const { body } = await app.inject({ url, headers: { accept: 'text/html' } });
    return /data-next="([^"]+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#39;', "'");
  };
  for (const { path } of pages)
    for (const query of ['', QUERY]) {
      const url = `${path.replace('{keyId}', randomUUID()).replace(/\{\w+\}/, 'pb_00112233445566778899aabbccddeeff')}${query}`;
      t.equal(await nextOn(url), url);
      t.equal(nextPageOf(url), url);
    }
  t.equal(await nextOn('/dashboard?again=EP-1'), '/dashboard');
  t.equal(await nextOn(signInLink(RESULT)), RESULT);
  t.equal(nextPageOf(RESULT), RESULT);
  for (const foreign of ['//evil.example', 'https://evil.example/dashboard/keys', '/\\evil.example', '/api/keys'])
    t.equal(await nextOn(signInLink(foreign)), '/dashboard', foreign);
  t.equal(await nextOn(`/dashboard/polls?q=${'x'.repeat(1_000)}`), undefined, 'more than a field takes');
  const many = new URLSearchParams(
    Array.from({ length: 60 }, (_, i): [string, string] => ['id', `ps_${String(i).padStart(24, '0')}`]),
  );
  t.equal(await nextOn(`/dashboard/polls/delete?${many}`), '/dashboard/polls/delete', 'without what is too long');
});

t.test('addresses that are not ours are none', async (t) => {
  for (const text of [
    ...['', '/', '//', '//evil.example', '///evil.example/dashboard/keys', 'dashboard/keys', 'https://evil.example'],
    ...['/\\evil.example', '/dashboard\\@evil.example', '/dashboard/..//evil.example', '/dashboard//evil.example'],
    ...[
      '/dashboard/%2F%2Fevil.example',
      '/dashboard/%5cevil',
      '/dashboard/keys/..',
      '/dashboard/keys#x',
      '/dashboard/',
    ],
    ...[
      '/dashboard/keys?a=%0d%0aSet-Cookie:x',
      '/dashboard/keys?a=%00',
      '/dashboard/keys?a=%7f',
      '/dashboard/keys?a=%',
    ],
    ...[
      '/dashboard/keys\n',
      '/dashboard/keys?a=\nb',
      '/dashboard/keys?a="b',
      '/dashboard/keys?a=<b',
      '/dashboard/keys? ',
    ],
    ...['/dashboard/keys?a?b', '/dashboard/grant', '/dashboard/grant?', '/dashboard/grant?@evil', '/dashboards'],
    ...['/dashboard/a/b/c/d', '/result/', '/result/EP-', '/result/../x', '/result/EP-1/feedback', '/api/auth/logout'],
    `/dashboard/polls?q=${'x'.repeat(1_000)}`,
  ])
    t.equal(nextPageOf(text), null, text);
  t.equal(nextPageOf(undefined), null);
  const part = fc.constantFrom(
    '/',
    '\\',
    '//',
    'dashboard',
    'result',
    'EP-1',
    'keys',
    '?',
    '#',
    '%2F',
    '@',
    '.',
    ':',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
      const next = nextPageOf(parts.join(''));
      if (next === null) return;
      const { origin, pathname, search } = new URL(next, 'https://polls.example');
      t.equal(`${origin}${pathname}${search}`.replace(/\?$/, ''), `https://polls.example${next}`.replace(/\?$/, ''));
      t.match(pathname, /^\/(?:dashboard|result)\b/);
    }),
    { numRuns: 2_000 },
  );
});
