import { createServer } from 'node:net';
import { type Browser, type BrowserContextOptions, openBrowser, type Page } from '@eloquentpoll/testkit/browser';
import type { Test } from 'tap';
import type { Config } from '../src/config.ts';
import type { Context } from '../src/context.ts';
import { build, type Gateway } from './build.ts';

// A gateway that listens, and a real browser in front of it. Whatever a test is about, its pages run no script that is
// not ours, break no rule of their policy, throw nothing and reach nobody else.

export interface Site extends Gateway {
  url: string;
  browser: Browser;
  /** A page in a browser profile of its own. */
  open(path: string, options?: BrowserContextOptions): Promise<Page>;
}

export async function openSite(t: Test, config: Partial<Config> = {}, given: Partial<Context> = {}): Promise<Site> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const gateway = await build(t, { baseUrl: url, ...config }, given);
  await gateway.app.listen({ port, host: 'localhost' });
  const browser = await openBrowser(t);

  const open = async (path: string, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ baseURL: url, locale: 'en-GB', timezoneId: 'UTC', ...options });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    watch(page, url, (problem) => t.fail(problem));
    await page.goto(path);
    return page;
  };
  return { ...gateway, url, browser, open };
}

function watch(page: Page, url: string, report: (problem: string) => void): void {
  const note = (what: string) => report(`${new URL(page.url(), url).pathname}: ${what}`);
  page.on('pageerror', ({ message }) => note(`threw ${message}`));
  // A violation of the policy is an error of the console, too.
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text())) note(message.text());
  });
  page.on('dialog', (dialog) => {
    note(`opened a dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) note(`asked ${request.url()}`);
  });
}

/** Answers that are no failure of a page: it was asked for what is not there, or not allowed. */
const EXPECTED = /^Failed to load resource: the server responded with a status of 4\d\d/;

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, 'localhost', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
