import t from 'tap';
import { openSite } from './open-site.ts';

const site = await openSite(t);

t.test('a page stands in a real browser', async (t) => {
  const page = await site.open('/?view=human');
  t.equal(await page.locator('h1').count(), 1);
  await (await site.open('/', { viewport: { width: 360, height: 700 }, colorScheme: 'dark' })).screenshot({
    path: '/tmp/shot2.png',
    fullPage: true,
  });
});
