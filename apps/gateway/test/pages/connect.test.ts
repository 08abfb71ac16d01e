import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { GUIDES } from '../../src/pages/guides/index.ts';
import { openSite } from '../fixtures/open-site.ts';
import { draw } from '../fixtures/page-problems.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { canRun, SYSTEM_PATH } from '../fixtures/system-programs.ts';

// slow: 8 s
// /connect and the guides: what they print runs as it is, a pasted key stays in the page, and the tests test.

const run = promisify(execFile);
const webhooks = { sealingKeys: ['a sealing key of at least 32 characters'], toLoopback: false };
const site = await openSite(t, { webhooks });
await standInWorker(t, site.context);
const { key } = await site.keyWith(10);
const hasCurl = await canRun('curl');

t.test('every sample of the guides runs as it is printed, with a key in its place', async (t) => {
  const page = await site.open('/logo.svg');
  for (const { name } of GUIDES) {
    await page.goto(`/guides/${name}`);
    const { height } = (await page.locator('main').boundingBox())!;
    t.ok(height < 1_500, `${name} is one screen, nearly: ${height} px`);
    for (const sample of await page.locator('pre[aria-label^="Shell: "]').allTextContents()) {
      t.match(sample, 'curl -sS');
      if (!hasCurl) continue;
      const script = sample.replaceAll('YOUR_API_KEY', key);
      const { stdout } = await run('sh', ['-euc', script], { timeout: 30_000, env: { PATH: SYSTEM_PATH } });
      t.match(
        stdout,
        /"(answer|outcome|status|key_prefix|endpoint_id|available_usd)"|event: complete/,
        `${name}: ${stdout.slice(0, 200)}`,
      );
      t.notMatch(stdout, /"isError":true/, name);
    }
  }
  t.equal((await page.goto('/guides/none'))!.status(), 404);
});

t.test('a pasted key is in every sample and link, and nowhere else', async (t) => {
  const page = await site.open('/connect');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const links = page.locator('a[data-config]');
  const configs = async () =>
    (await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))).map((href) => {
      const config = decodeURIComponent(href.split(/config=|install\?/).at(-1)!);
      return JSON.parse(config.startsWith('{') ? config : atob(config));
    });
  const holding = (token: string) => ({ url: `${site.url}/api/mcp`, headers: { Authorization: `Bearer ${token}` } });
  t.match(await configs(), [
    holding('YOUR_API_KEY'),
    { ...holding('YOUR_API_KEY'), name: 'eloquentpoll', type: 'http' },
  ]);
  const field = page.getByLabel('Your API key');
  await field.fill('not a key');
  t.match(await page.locator('#own-key-note').textContent(), /begin with ep_k_/);
  t.match(await configs(), [holding('YOUR_API_KEY'), {}]);
  await field.fill(key);
  t.match(await configs(), [holding(key), holding(key)]);
  const samples = async () => (await page.locator('pre code').allTextContents()).join('\n');
  t.notMatch(await samples(), 'YOUR_API_KEY');
  t.match(await samples(), `--header "Authorization: Bearer ${key}"`);
  t.same(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]'), [0, 0, '']);
  t.same(asked, [], 'it was sent nowhere');
  await field.fill('');
  t.match(await samples(), 'Bearer YOUR_API_KEY');
});

t.test('the tests of the connection say what came back', async () => {
  const page = await site.open('/connect');
  const outcome = page.locator('#test-outcome');
  await page.getByRole('button', { name: 'Test MCP' }).click();
  await outcome.getByText('Paste an API key above first').waitFor();
  await page.getByLabel('Your API key').fill(`ep_k_${'x'.repeat(38)}`);
  await page.getByRole('button', { name: 'Test MCP' }).click();
  await outcome.getByText(/^It did not work: .*key/i).waitFor();
  await page.getByLabel('Your API key').fill(key);
  await page.getByRole('button', { name: 'Test MCP' }).click();
  await outcome.getByText('has 3 tools: poll_question, get_poll_result, get_balance.').waitFor();
  await page.getByRole('button', { name: 'Ask a free poll' }).click();
  await outcome.getByText(/It works\. “.*” Answer: Vancouver/).waitFor();
  await draw(page, 'connect-tested');
  await outcome.getByRole('link', { name: 'See the result' }).click();
  await page.waitForURL('**/result/EP-*');
});

t.test('without scripts there are all hosts with their placeholder, and nothing that does not work', async (t) => {
  const page = await site.open('/connect', { javaScriptEnabled: false });
  t.equal(await page.locator('.tabs section:visible').count(), 10);
  for (const id of ['#own-key', '#test-connection']) t.notOk(await page.locator(id).isVisible());
  t.match((await site.app.inject({ url: '/connect.md' })).body, /claude mcp add --transport http eloquentpoll/);
});
