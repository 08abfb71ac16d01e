import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@eloquentpoll/testkit/browser';
import type { AxeResults } from 'axe-core';

// How pages are looked at: by axe, by their width, and by people who set SCREENSHOTS to a folder.

export const WIDTHS = [320, 1280];
export const SCHEMES = ['light', 'dark'] as const;
export const MOST_BYTES = 100 * 1024;

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** What axe calls serious, and what is wider than the page. The page's policy has to be bypassed. */
export async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
  const wide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  return [
    ...violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target, html }) => `${target.join(' ')} ${html}`).join('; ')}`),
    ...(Number(wide) > 0 ? [`${wide} pixels wider than the page`] : []),
  ];
}

/** Only where somebody wants to see it. */
export async function draw(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
