import { balanceOf, listKeys } from '@eloquentpoll/storage';
import { loopbackServer } from '@eloquentpoll/testkit/fakes/loopback-server';
import t, { type Test } from 'tap';
import { openSite } from '../fixtures/open-site.ts';
import { logIn } from '../fixtures/signed-in.ts';

// slow: 4 s

// Pages of other origins, in the browser of a user who is logged in here: whatever they try with the cookie changes
// nothing and returns nothing to them. `localhost` on another port is the same site to a browser, which sends the cookie
// along; 127.0.0.1 is another one.

const site = await openSite(t);
const { storage } = site.context;

/** What the other site's pages do: a form that sends itself, and whatever the test evaluates. */
function evilPage({ searchParams }: URL): string {
  const { action, enctype, body = '' } = Object.fromEntries(searchParams);
  if (!action) return '<!doctype html><p>hello</p>';
  // What a form sends as text begins with the name of its field, so it can look like JSON.
  const name = `${body.slice(0, -1)},"padding":"`.replaceAll('"', '&quot;');
  return `<!doctype html><form method="post" action="${action}" enctype="${enctype}"><input name="${name}" value="&quot;}"></form>
<script>document.forms[0].submit()</script>`;
}

const countOf = async (table: 'checkouts' | 'polls', accountId: string): Promise<number> =>
  (await storage.db.selectFrom(table).select('id').where('account_id', '=', accountId).execute()).length;

async function visit(t: Test, hostname: string) {
  const evil = new URL(
    await loopbackServer(t, ({ request, response }) => {
      response.setHeader('content-type', 'text/html');
      response.end(evilPage(new URL(request.url ?? '/', 'http://evil.test')));
    }),
  );
  evil.hostname = hostname;
  const { accountId } = await site.keyWith(5);
  const context = await site.browser.newContext();
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  await logIn(site, accountId, page);
  await page.goto(evil.href);
  const state = async () => ({
    keys: (await listKeys(storage, accountId)).length,
    ...(await balanceOf(storage, accountId)),
    checkouts: await countOf('checkouts', accountId),
    polls: await countOf('polls', accountId),
  });
  return { page, accountId, state, evil };
}

const CALLS = [
  { path: '/api/keys', body: { label: 'mine now' } },
  { path: '/dashboard/keys', body: { label: 'mine now' } },
  { path: '/api/checkout', body: { amount_cents: 500 } },
  { path: '/api/poll', body: { question: 'Which of the two is it?', options: ['This', 'That'] } },
].map(({ path, body }) => ({ path, body: JSON.stringify(body) }));
const TYPES = ['application/json', 'text/plain', 'application/x-www-form-urlencoded'];
const ENCTYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'];

const fetched = (url: string, init: object): string =>
  `fetch(${JSON.stringify(url)}, ${JSON.stringify({ credentials: 'include', ...init })}).then((a) => a.text(), () => 'refused')`;

for (const hostname of ['localhost', '127.0.0.1']) {
  t.test(`[§5-rule-401] a page on ${hostname} can neither write nor read`, async (t) => {
    const { page, accountId, state, evil } = await visit(t, hostname);
    const before = await state();

    for (const { path, body } of CALLS)
      for (const type of TYPES)
        for (const mode of ['cors', 'no-cors']) {
          const call = { method: 'POST', mode, headers: { 'content-type': type }, body };
          const said = await page.evaluate<string>(fetched(site.url + path, call));
          t.notMatch(said, /ep_k_|poll_id|"url"/, `${path} as ${type}, ${mode}`);
        }

    for (const { path, body } of CALLS)
      for (const enctype of ENCTYPES) {
        const form = new URL(evil);
        form.search = String(new URLSearchParams({ action: site.url + path, enctype, body }));
        const answered = page.waitForResponse(`${site.url}${path}`);
        await page.goto(form.href, { waitUntil: 'commit' });
        const status = (await answered).status();
        t.ok(hostname === 'localhost' ? status === 403 : status >= 400, `${path} by a form of ${enctype}: ${status}`);
        await page.waitForURL(`${site.url}${path}`);
      }
    await page.goto(evil.href);

    for (const path of ['/dashboard', '/api/balance', '/api/keys', '/api/auth/me', '/api/results'])
      t.equal(await page.evaluate(fetched(site.url + path, {})), 'refused', `${path} is not read`);

    // Logging a user out is a nuisance that needs a navigation; an image is none, and no frame shows a page of ours.
    await page.evaluate(`new Promise((resolve) => {
      const image = new Image();
      image.onerror = resolve;
      image.src = '${site.url}/api/auth/logout';
    })`);
    const framed = page.waitForResponse(`${site.url}/dashboard`);
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: '${site.url}/dashboard' }))`,
    );
    await framed;
    t.notOk(await page.frameLocator('iframe').getByText('Dashboard').count());

    await page.goto(`${site.url}/dashboard`);
    await page.getByText(accountId, { exact: true }).waitFor();
    t.same(await state(), before, 'nothing has changed');
  });
}

t.test('the same from our own page is what its owner wants', async (t) => {
  const { page, state } = await visit(t, 'localhost');
  const { keys } = await state();
  await page.goto(`${site.url}/dashboard`);
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
  t.match(await page.evaluate(fetched('/api/keys', call)), /ep_k_/);
  t.equal((await state()).keys, keys + 1);
});
