import { type ApiAnswer, ask, sentenceOf } from './ask.ts';
import { closePayment, hasWallet, keepOpen, type OpenPayment, openPaymentOf } from './open-payment.ts';
import { beOn, connect, refusalOf, signTyped } from './wallet.ts';

// A deposit by x402: the service states the terms, the wallet signs a transfer of exactly that amount (EIP-3009), and
// the service submits it to the chain. The payment is credited to the signing wallet, so only the account's wallets may
// sign.

interface Payment {
  amountUsd: number;
  chainId: number;
  /** Wallets that belong to this account. */
  wallets: readonly string[];
}

interface Terms {
  network: string;
  maxAmountRequired: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra: { name: string; version: string };
}

const TYPES = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
};

/** Resolves to the final message. A payment that is already open is sent again, and nothing is signed. */
export async function payWithWallet(payment: Payment, say: (sentence: string) => void): Promise<string> {
  const open = openPaymentOf(payment.wallets);
  if (open) return send(open, say);
  const wallet = window.ethereum;
  if (!wallet) return 'No wallet was found in this browser.';
  const { amountUsd, chainId, wallets } = payment;
  try {
    say('Choose the account in the wallet.');
    const address = await connect(wallet);
    if (!hasWallet(wallets, address))
      return `That is ${address}, and this account is opened by ${wallets.join(' or ')}. Choose that account in the wallet.`;
    await beOn(wallet, chainId);
    const asked = await ask('POST', '/api/deposit', { amount_usd: amountUsd });
    const terms = (asked.body.accepts as Terms[] | undefined)?.[0];
    if (asked.status !== 402 || !terms) return sentenceOf(asked);
    say(`Sign the payment of ${amountUsd} USDC in the wallet.`);
    const authorization = authorizationOf(terms, address, dateOf(asked));
    const signature = await signTyped(wallet, address, {
      domain: { ...terms.extra, chainId, verifyingContract: terms.asset },
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message: authorization,
    });
    const proof = { x402Version: 1, scheme: 'exact', network: terms.network, payload: { signature, authorization } };
    const signed = { amountUsd, from: address, proof: btoa(JSON.stringify(proof)) };
    keepOpen(signed);
    return await send(signed, say);
  } catch (error) {
    return refusalOf(error);
  }
}

/** The message while the outcome of a payment is unknown. */
export const mayBeUnderWay = ({ amountUsd }: OpenPayment): string =>
  `The payment of ${amountUsd} USDC may be under way. The button sends the same payment again, which takes nothing twice.`;

async function send(payment: OpenPayment, say: (sentence: string) => void): Promise<string> {
  const { amountUsd, proof } = payment;
  say('Paying. This takes until the chain shows the transfer.');
  const paid = await ask('POST', '/api/deposit', { amount_usd: amountUsd }, { 'x-payment': proof });
  // After a success, 400 or 402 the outcome is known. After any other status the payment may still go through.
  if (!paid.ok && paid.status !== 402 && paid.status !== 400) return `${sentenceOf(paid)} ${mayBeUnderWay(payment)}`;
  closePayment();
  if (paid.ok) return `${amountUsd} USDC are part of your balance.`;
  if (paid.body.code === 'payment_already_used')
    return 'This payment was settled before. Your balance has what arrived.';
  return sentenceOf(paid);
}

/** The time by the service's clock, which its terms refer to; the clock of this computer may be wrong by hours. */
function dateOf({ headers }: ApiAnswer): number {
  const date = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(date) ? Date.now() : date;
}

function authorizationOf({ payTo, maxAmountRequired, maxTimeoutSeconds }: Terms, from: string, date: number) {
  const now = Math.floor(date / 1_000);
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0'));
  return {
    from,
    to: payTo,
    value: maxAmountRequired,
    // Clocks may differ.
    validAfter: String(now - 600),
    validBefore: String(now + maxTimeoutSeconds),
    nonce: `0x${nonce.join('')}`,
  };
}
