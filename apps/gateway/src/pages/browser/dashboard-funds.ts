import { ask, sentenceOf } from './ask.ts';
import { on } from './on.ts';
import { openPaymentOf } from './open-payment.ts';
import { mayBeUnderWay, payWithWallet } from './pay-with-wallet.ts';
import { refresh } from './refresh.ts';

/** Deposits: by card on the payment processor's page, or in USDC with a signature of one of this account's wallets. */
export function funds(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>('[data-card], [data-usdc]')) {
    const amount = form.querySelector<HTMLInputElement>('[name="amount"]')!;
    for (const choice of form.querySelectorAll<HTMLButtonElement>('[data-amount]')) {
      choice.addEventListener('click', () => {
        amount.value = choice.dataset.amount!;
      });
    }
  }
  submits('[data-card]', payByCard);
  submits('[data-usdc]', async (amountUsd, say, form) => {
    const chainId = Number(form.dataset.chain);
    const sentence = await payWithWallet({ amountUsd, chainId, wallets: walletsOf(form) }, say);
    showOpenPayment(form);
    await refresh('balance');
    return sentence;
  });
  const usdc = document.querySelector<HTMLFormElement>('[data-usdc]');
  if (usdc) showOpenPayment(usdc, true);
}

const walletsOf = (form: HTMLFormElement): string[] => form.dataset.wallets!.split(' ');

/** While a payment is open, the form shows that payment: its amount cannot be edited, and the button sends it again. */
function showOpenPayment(form: HTMLFormElement, says = false): void {
  const open = openPaymentOf(walletsOf(form));
  const amount = form.querySelector<HTMLInputElement>('[name="amount"]')!;
  if (open) amount.value = String(open.amountUsd);
  amount.readOnly = open !== null;
  const button = form.querySelector<HTMLButtonElement>('[data-needs-script]')!;
  const label = button.dataset.label ?? button.textContent ?? '';
  button.dataset.label = label;
  button.textContent = open ? 'Send the same payment again' : label;
  for (const choice of form.querySelectorAll<HTMLButtonElement>('[data-amount]')) choice.disabled = open !== null;
  if (!open || !says) return;
  const said = form.querySelector<HTMLElement>('[data-said]')!;
  said.textContent = mayBeUnderWay(open);
  said.hidden = false;
}

type Pay = (amountUsd: number, say: (sentence: string) => void, form: HTMLFormElement) => Promise<string>;

function submits(selector: string, pay: Pay): void {
  const form = document.querySelector<HTMLFormElement>(selector);
  if (!form) return;
  const said = form.querySelector<HTMLElement>('[data-said]')!;
  const button = form.querySelector<HTMLButtonElement>('[data-needs-script]')!;
  const say = (sentence: string) => {
    said.textContent = sentence;
    said.hidden = sentence === '';
  };
  on(form, 'submit', async (event) => {
    event.preventDefault();
    button.disabled = true;
    say('');
    say(await pay(Number(new FormData(form).get('amount')), say, form));
    button.disabled = false;
  });
}

/** One key per amount, so that a second click does not open a second payment. */
const keys = new Map<number, string>();

async function payByCard(amountUsd: number): Promise<string> {
  const amount_cents = Math.round(amountUsd * 100);
  const key = keys.get(amount_cents) ?? crypto.randomUUID();
  keys.set(amount_cents, key);
  const answer = await ask('POST', '/api/checkout', { amount_cents }, { 'idempotency-key': key });
  const url = answer.ok ? URL.parse(String(answer.body.url)) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return sentenceOf(answer);
  location.assign(url);
  return '';
}
