import { buildApp } from '@eloquentpoll/gateway/app';
import { readConfig as readGatewayConfig } from '@eloquentpoll/gateway/config';
import { openContext } from '@eloquentpoll/gateway/context';
import { PRODUCT } from '@eloquentpoll/identity-provider/client';
import { startLocalProvider } from '@eloquentpoll/identity-provider/server';
import { freePort } from '@eloquentpoll/services/free-port';
import { openBrowser } from '@eloquentpoll/testkit/browser';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';

// slow: 3 s

// A person logs in and out at the local identity provider, in a real browser: every policy, cookie and redirect on the
// way has to fit, on both sides.

const SECRET = 'a client secret of at least 32 characters';

async function product(t: Test) {
  const port = await freePort('localhost');
  const baseUrl = `http://localhost:${port}`;
  const provider = await startLocalProvider({ folder: t.testdir(), baseUrl, clientSecret: SECRET });
  t.teardown(() => provider.stop());
  const { url: redisUrl, prefix } = testRedis(t);
  const settings = {
    DATABASE_URL: await testDatabase(t),
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    KEY_PEPPER: 'a pepper of at least 32 characters',
    BASE_URL: baseUrl,
    MODELS_FILE: 'simulator',
    OIDC_ISSUER: provider.issuer,
    OIDC_NAME: 'the demo login',
    OIDC_CLIENT_ID: PRODUCT,
    OIDC_CLIENT_SECRET: SECRET,
    LOG_LEVEL: 'silent',
  };
  const context = await openContext(readGatewayConfig(settings));
  t.teardown(() => context[Symbol.asyncDispose]());
  const app = buildApp(context);
  t.teardown(() => app.close());
  await app.listen({ port, host: 'localhost' });
  return { baseUrl, provider };
}

t.test(
  '[§4.5-login-302, §4.5-callback-302, §4.5-logout-302, §5-cookie-after-login] in and out, as a person does it',
  async (t) => {
    const { baseUrl, provider } = await product(t);
    const browser = await openBrowser(t);
    const profile = await browser.newContext({ baseURL: baseUrl });
    profile.setDefaultTimeout(60_000);
    const page = await profile.newPage();
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', ({ message }) => problems.push(message));

    await page.goto('/dashboard');
    await page.getByRole('link', { name: 'Sign in with the demo login' }).click();
    await page.getByRole('heading', { name: 'Sign in to EloquentPoll' }).waitFor();
    t.ok(page.url().startsWith(provider.issuer));
    await page.getByLabel('E-mail address').fill('ann@example.com');
    await page.getByRole('button', { name: 'Sign in' }).click();

    await page.waitForURL(`${baseUrl}/dashboard`);
    await page.getByText('ann@example.com').first().waitFor();
    await page.getByText('the demo login').waitFor();
    const cookies = await profile.cookies(baseUrl);
    t.match(
      cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite })),
      [{ name: 'ep_session', httpOnly: true, sameSite: 'Lax' }],
      'the cookie of the attempt is gone',
    );

    await page.getByRole('link', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign out' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${baseUrl}/`);
    t.same(await profile.cookies(`${baseUrl}/dashboard`), []);
    await page.goto('/dashboard');
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    t.same(problems, []);

    await page.getByRole('link', { name: 'Sign in with the demo login' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Sign-in was cancelled.').waitFor();
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Sign in to EloquentPoll' }).waitFor();
  },
);
