import { ask, sentenceOf } from './ask.ts';
import { element } from './draw.ts';
import { keepFields } from './fill-from-address.ts';
import { showKey } from './key-note.ts';
import { on } from './on.ts';
import { connect, refusalOf, signText, type Wallet } from './wallet.ts';

// Signs in with the browser's wallet: our challenge, its signature, a session.

keepFields();

const section = document.querySelector<HTMLElement>('#wallet')!;
const button = section.querySelector<HTMLButtonElement>('[data-wallet]')!;
const next = section.dataset.next ?? '/dashboard';
const said = section.querySelector<HTMLElement>('[data-said]')!;
const shown = section.querySelector<HTMLElement>('[data-key-shown]')!;

const wallet = window.ethereum;
said.textContent = wallet ? '' : 'No wallet was found in this browser.';
if (wallet) {
  section.querySelector<HTMLElement>('[data-wallet-row]')!.hidden = false;
  on(button, 'click', async () => {
    button.disabled = true;
    said.textContent = await signIn(wallet).catch(refusalOf);
    button.disabled = false;
  });
}

/** Resolves to a message; empty once the browser is leaving the page. */
async function signIn(wallet: Wallet): Promise<string> {
  said.textContent = 'Choose an account in the wallet.';
  const address = await connect(wallet);
  const challenge = await ask('GET', `/api/wallet/challenge?${new URLSearchParams({ address, purpose: 'login' })}`);
  if (!challenge.ok) return sentenceOf(challenge);
  said.textContent = 'Sign the message in the wallet.';
  const message = String(challenge.body.message);
  const signature = await signText(wallet, address, message);
  const login = await ask('POST', '/api/wallet/verify', { message, signature });
  if (!login.ok) return String(login.body.error);
  if (typeof login.body.api_key !== 'string') {
    location.assign(next);
    return 'You are signed in.';
  }
  showKey(
    shown,
    login.body.api_key,
    'Welcome. This is the first key of your account. Copy it now. You won’t see it again.',
  );
  shown.append(element('p', {}, element('a', { class: 'button', href: next }, 'Continue')));
  button.hidden = true;
  return 'You are signed in.';
}
