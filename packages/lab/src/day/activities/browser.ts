import { chromiumForTests } from '@eloquentpoll/testkit/bring-chromium';
import { type Browser, launchChromium } from '@eloquentpoll/testkit/browser';
import type { AskedQuestion } from '../recorded-questions.ts';
import { type Activity, type DayWorld, newQuestion } from '../world.ts';

// A person at the playground in a real Chromium: asks, watches the bars move, opens the result.

const WITHIN_MS = 60_000;

export interface PersonInBrowser extends AsyncDisposable {
  visit: Activity;
}

export async function openPersonInBrowser(): Promise<PersonInBrowser> {
  const browser: Browser = await launchChromium(await chromiumForTests(process.env));
  return {
    async visit(world) {
      const { question, options } = twoOptions(world);
      const way = 'playground in Chromium';
      const began = performance.now();
      const profile = await browser.newContext({ baseURL: world.baseUrl });
      try {
        profile.setDefaultTimeout(WITHIN_MS);
        const page = await profile.newPage();
        page.on('pageerror', ({ message }) => world.diary.note(`${way}: ${message}`));
        await page.goto('/playground');
        await page.getByLabel('Question').fill(question);
        for (const [i, option] of options.entries()) await page.getByLabel(`Option ${i + 1}`).fill(option);
        await page.getByRole('button', { name: 'Ask the models' }).click();
        await page.getByRole('link', { name: 'View and share' }).click();
        await page.waitForURL('**/result/EP-*');
        const shown = await page.locator('h1').textContent();
        world.diary.judge(way, shown === question ? [] : [`the result's page shows "${shown}"`]);
        world.diary.answered(way, 200, performance.now() - began);
      } catch (error) {
        world.diary.answered(way, 0, performance.now() - began);
        if (!world.signal.aborted)
          world.diary.note(`${way}: ${error instanceof Error ? error.message : String(error)}`);
      } finally {
        await profile.close();
      }
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/** The form shows two options at first. */
function twoOptions(world: DayWorld): AskedQuestion {
  for (;;) {
    const asked = newQuestion(world);
    if (asked.options.length === 2) return asked;
  }
}
