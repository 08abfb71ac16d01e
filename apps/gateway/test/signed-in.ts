import type { BrowserContextOptions, Page } from '@eloquentpoll/testkit/browser';
import { COOKIE } from '../src/accounts/session-cookie.ts';
import type { Site } from './open-site.ts';

/** The dashboard of an account, in a browser profile of its own that is logged in. */
export async function openDashboard(
  site: Site,
  accountId: string,
  options: BrowserContextOptions = {},
  path = '/dashboard',
): Promise<Page> {
  const page = await site.open('/logo.svg', options);
  await logIn(site, accountId, page);
  await page.goto(path);
  return page;
}

export async function logIn(site: Site, accountId: string, page: Page): Promise<void> {
  const { cookie } = await site.sessionFor(accountId);
  const value = cookie.slice(COOKIE.length + 1);
  await page.context().addCookies([{ name: COOKIE, value, url: site.url, httpOnly: true, sameSite: 'Lax' }]);
}
