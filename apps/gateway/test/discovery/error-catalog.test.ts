import { ERROR_CODES, ERRORS, RECOVERY_ACTIONS } from '@eloquentpoll/contracts';
import t from 'tap';
import { build } from '../fixtures/build.ts';

const { app } = await build(t);
const answer = await app.inject({ url: '/api/errors/catalog' });
const catalog = answer.json();
interface Entry {
  code: keyof typeof ERRORS;
  type: string;
  status: number;
  recovery: { action: string }[];
  endpoints: string[];
}

t.test('[§4.7-errors-catalog, §7-catalog-complete] every code, with what to do about it', async (t) => {
  t.equal(answer.statusCode, 200);
  t.same(
    catalog.errors.map(({ code }: Entry) => code),
    ERROR_CODES,
  );
  t.equal(catalog.count, ERROR_CODES.length);
  t.same(catalog.recovery_actions, Object.keys(RECOVERY_ACTIONS));
  for (const { code, status, recovery } of catalog.errors as Entry[]) {
    t.equal(status, ERRORS[code].status, code);
    t.same(
      recovery.map(({ action }) => action),
      ERRORS[code].recovery,
    );
  }
  const again = await app.inject({
    url: '/api/errors/catalog',
    headers: { 'if-none-match': String(answer.headers.etag) },
  });
  t.match([again.statusCode, again.body], [304, '']);
});

t.test('each entry names the operations that declare it', async (t) => {
  const entry = (code: string): Entry => catalog.errors.find((one: Entry) => one.code === code);
  t.ok(entry('insufficient_balance').endpoints.includes('POST /api/poll'));
  t.ok(entry('result_not_found').endpoints.includes('GET /api/results/{resultId}'));
  t.ok(entry('rate_limited').endpoints.length >= entry('insufficient_balance').endpoints.length);
  const { paths, components } = (await app.inject({ url: '/api/openapi.json' })).json();
  for (const { code, status, endpoints } of catalog.errors as Entry[]) {
    for (const endpoint of endpoints) {
      const [method = '', path = ''] = endpoint.split(' ');
      const { $ref, description } = paths[path][method.toLowerCase()].responses[status];
      const usual = components.responses[$ref.split('/').at(-1)].description;
      t.match(description ?? usual, `\`${code}\``, `${endpoint} ${code}`);
    }
  }
});

t.test('the type of a problem leads to its entry, for programs and for people', async (t) => {
  for (const entry of catalog.errors as Entry[]) {
    t.equal(new URL(entry.type).origin, 'https://polls.example');
    const { pathname } = new URL(entry.type);
    const [json, page] = [
      await app.inject({ url: pathname }),
      await app.inject({ url: pathname, headers: { accept: 'text/html,*/*;q=0.8' } }),
    ];
    t.same(json.json(), entry);
    t.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    t.match(page.body, entry.code);
    t.match([json.headers.vary, page.headers.vary], ['Accept', 'Accept']);
    t.not(json.headers.etag, page.headers.etag);
  }
  const problem = await app.inject({ url: '/api/nothing', headers: { accept: 'application/problem+json' } });
  t.equal((await app.inject({ url: new URL(problem.json().type).pathname })).json().code, problem.json().code);
  for (const url of ['/errors/nope', '/errors/__proto__', '/errors/NOT_FOUND'])
    t.match((await app.inject({ url })).json(), { code: 'not_found' }, url);
});
