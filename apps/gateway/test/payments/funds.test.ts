import { admitIdentity, checkLedger } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { delivery, fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import { type HDNodeWallet, Wallet } from 'ethers';
import t from 'tap';
import { installWallet } from '../fixtures/browser-wallet.ts';
import { openTestDeposits } from '../fixtures/deposits.ts';
import { openSite } from '../fixtures/open-site.ts';
import { logIn } from '../fixtures/signed-in.ts';

// slow: 6 s

// Funding from the dashboard: by card through the processor's page and back, in USDC by a wallet in the browser.

const stripe = await fakeStripe(t);
const { deposits, facilitator } = await openTestDeposits(t);
const site = await openSite(t, { checkout: stripe.settings }, { deposits });
const { storage } = site.context;

/** A logged-in page that may navigate to other sites. */
async function traveller(accountId: string) {
  const context = await site.browser.newContext({ baseURL: site.url });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  await logIn(site, accountId, page);
  return page;
}

const newest = () => [...stripe.sessions.values()].at(-1)!;

t.test(
  '[§4.5-checkout-200, §4.5-checkout-credits] a card payment is in the balance when the browser returns from the processor',
  async (t) => {
    const { accountId } = await site.keyWith(1);
    const page = await traveller(accountId);
    await page
      .context()
      .route('https://checkout.stripe.test/**', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<h1>Pay here</h1>' }),
      );
    await page.goto('/dashboard');
    await page.getByRole('button', { name: '$25' }).click();
    await page.getByRole('button', { name: 'Pay by card' }).click();
    await page.getByRole('heading', { name: 'Pay here' }).waitFor();
    const session = newest();
    t.equal(page.url(), `https://checkout.stripe.test/c/pay/${session.id}`);
    t.match(session, { amount_total: 2_500, currency: 'usd' });

    // Paid, and back before the webhook.
    const event = stripe.complete(session);
    await page.goto(session.form.success_url!);
    await page.getByText('$25.00 added to your balance').waitFor();
    t.equal(await page.locator('[data-balance]').textContent(), '$26.00');
    t.equal(page.url(), `${site.url}/dashboard`, 'the address of a return is not kept');
    t.equal((await site.app.inject(delivery(event))).statusCode, 200);
    await page.goto(session.form.success_url!);
    t.equal(await page.locator('[data-balance]').textContent(), '$26.00', 'and once');
  },
);

t.test('the page waits for an unconfirmed payment, and loads while the processor fails', async (t) => {
  const { accountId } = await site.keyWith(1);
  const { cookie, origin } = await site.sessionFor(accountId);
  const opened = await site.app.inject({
    method: 'POST',
    url: '/api/checkout',
    headers: { cookie, origin },
    payload: { amount_cents: 700 },
  });
  t.equal(opened.statusCode, 200);
  const session = newest();
  stripe.complete(session, { paid: false });
  const page = await traveller(accountId);
  await page.goto(session.form.success_url!);
  await page.getByText('not confirmed yet').waitFor();
  stripe.confirm(session);
  await page.getByText('$7.00 added to your balance').waitFor();
  t.equal(await page.locator('[data-balance]').textContent(), '$8.00');

  const pageAt = async (path: string) => (await site.app.inject({ url: path, headers: { cookie } })).body;
  t.match(await pageAt('/dashboard?checkout=cancelled'), 'Nothing was charged.');
  stripe.trouble('errors');
  t.match(await pageAt('/dashboard?checkout=success'), '$8.00', 'a processor in trouble holds up no page');
  stripe.trouble('none');
});

t.test('the page does not show payments of other accounts', async (t) => {
  const [payer, other] = [await site.keyWith(1), await site.keyWith(1)];
  const headers = await site.sessionFor(payer.accountId);
  await site.app.inject({ method: 'POST', url: '/api/checkout', headers, payload: { amount_cents: 900 } });
  stripe.complete(newest());
  const { cookie } = await site.sessionFor(other.accountId);
  const page = await site.app.inject({ url: '/dashboard?checkout=success', headers: { cookie } });
  t.match(page.body, '$1.00');
  t.notMatch(page.body, '$9.00');
});

async function ownerOf(wallet: HDNodeWallet): Promise<string> {
  const address = Buffer.from(wallet.address.slice(2), 'hex');
  return (await admitIdentity(storage, { kind: 'wallet', address })).accountId;
}

for (const [clock, offByMs] of [
  ['ten minutes slow', -600_000],
  ['two hours fast', 7_200_000],
] as const) {
  t.test(`a USDC deposit of a browser whose clock is ${clock} is in the balance`, async (t) => {
    const wallet = Wallet.createRandom();
    const page = await site.open('/logo.svg');
    await installWallet(page, wallet);
    await page.context().addInitScript(`const now = Date.now; Date.now = () => now() + ${offByMs};`);
    await logIn(site, await ownerOf(wallet), page);
    await page.goto('/dashboard');
    await page.getByRole('tab', { name: 'USDC' }).click();
    await page.getByRole('button', { name: '$5', exact: true }).click();
    await page.getByRole('button', { name: 'Pay with wallet' }).click();
    await page.locator('[data-balance]').getByText('$5.00').waitFor();
    t.ok(await page.getByText('5 USDC are part of your balance.').isVisible());
  });
}

t.test(
  '[§4.5-deposit-200, §4.5-deposit-credits] a USDC deposit signed by the browser wallet is in the balance',
  async (t) => {
    const wallet = Wallet.createRandom();
    const page = await site.open('/logo.svg');
    const asked = await installWallet(page, wallet);
    await logIn(site, await ownerOf(wallet), page);
    await page.goto('/dashboard');
    await page.getByRole('tab', { name: 'USDC' }).click();
    await page.getByRole('button', { name: '$5', exact: true }).click();
    await page.getByRole('button', { name: 'Pay with wallet' }).click();
    await page.getByText('5 USDC are part of your balance.').waitFor();
    t.same(asked, ['eth_requestAccounts', 'eth_chainId', 'eth_signTypedData_v4']);
    t.equal(await page.locator('[data-balance]').textContent(), '$5.00');

    facilitator.state.invalid = 'insufficient_funds';
    await page.getByRole('button', { name: 'Pay with wallet' }).click();
    await page
      .getByText(/not enough|insufficient|balance/i)
      .last()
      .waitFor();
    t.equal(await page.locator('[data-balance]').textContent(), '$5.00');
    facilitator.state.invalid = null;
  },
);

t.test(
  'a payment whose answer was lost is sent again as it was signed, also after a reload, and is paid once',
  async (t) => {
    const wallet = Wallet.createRandom();
    const page = await traveller(await ownerOf(wallet));
    const asked = await installWallet(page, wallet);
    const proofs: string[] = [];
    let lost = 2;
    await page.route('**/api/deposit', async (route) => {
      const proof = route.request().headers()['x-payment'];
      if (proof === undefined) return route.continue();
      proofs.push(proof);
      const answer = await route.fetch();
      return lost-- > 0 ? route.abort() : route.fulfill({ response: answer });
    });
    await page.goto('/dashboard');
    await page.getByRole('tab', { name: 'USDC' }).click();
    await page.getByRole('button', { name: '$5', exact: true }).click();
    await page.getByRole('button', { name: 'Pay with wallet' }).click();
    await page.getByText('The payment of 5 USDC may be under way.').waitFor();
    const again = page.getByRole('button', { name: 'Send the same payment again' });
    await again.click();
    await eventually('it is sent a second time', () => proofs.length === 2);

    await page.reload();
    await page.getByRole('tab', { name: 'USDC' }).click();
    await page.getByText('The payment of 5 USDC may be under way.').waitFor();
    t.equal(await page.locator('[data-usdc] [name=amount]').inputValue(), '5');
    await again.click();
    await page.getByText('This payment was settled before.').waitFor();
    t.equal(asked.filter((method) => method === 'eth_signTypedData_v4').length, 1, 'one signature');
    t.same([proofs.length, new Set(proofs).size], [3, 1]);
    t.equal(await page.locator('[data-balance]').textContent(), '$5.00');
    await page.getByRole('button', { name: 'Pay with wallet' }).waitFor();
    t.ok(await page.locator('[data-usdc] [name=amount]').isEditable(), 'and another payment can be made');
  },
);

t.test('a wallet of another account is not asked to sign', async (t) => {
  const [own, other] = [Wallet.createRandom(), Wallet.createRandom()];
  const page = await site.open('/logo.svg');
  const asked = await installWallet(page, other);
  await logIn(site, await ownerOf(own), page);
  await page.goto('/dashboard');
  await page.getByRole('tab', { name: 'USDC' }).click();
  await page.getByRole('button', { name: 'Pay with wallet' }).click();
  await page.getByText(`this account is opened by ${own.address}`).waitFor();
  t.same(asked, ['eth_requestAccounts']);

  const { accountId } = await site.keyWith(0);
  await logIn(site, accountId, page);
  await page.goto('/dashboard');
  await page.getByRole('tab', { name: 'USDC' }).click();
  await page.getByText('this account has no wallet').waitFor();
});

t.test('the ledger balances after all tests', async (t) => {
  t.same(await checkLedger(storage), []);
});
