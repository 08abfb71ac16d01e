import { randomBytes } from 'node:crypto';
import type { Wallet } from 'ethers';
import type { Test } from 'tap';
import { openChain } from '../src/deposit/chain.ts';
import type { Desk } from '../src/deposit/desk.ts';
import { remoteFacilitator } from '../src/deposit/facilitator.ts';
import { readPolicies } from '../src/limits/policies.ts';
import type { DepositSettings } from '../src/payment-settings.ts';
import { build, type Gateway } from './build.ts';
import { DOMAIN, fakeChain, TOKEN } from './fake-chain.ts';
import { fakeFacilitator } from './fake-facilitator.ts';

// Wallets that pay by x402, and a gateway where they can, with a chain and a facilitator on loopback.

export const PAY_TO = '0x00000000000000000000000000000000000000bb';

export interface Authorization {
  from: string;
  to: string;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: string;
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
};

const inS = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds);

export interface Signed {
  signature: string;
  authorization: Authorization;
}

/** What a wallet signs to pay this much. */
export async function sign(
  wallet: Wallet | ReturnType<typeof Wallet.createRandom>,
  usd: number,
  { change = {}, domain = {} }: { change?: Partial<Authorization>; domain?: object } = {},
): Promise<Signed> {
  const authorization = {
    from: wallet.address,
    to: PAY_TO,
    value: String(Math.round(usd * 1_000_000)),
    validAfter: inS(-600),
    validBefore: inS(300),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...change,
  };
  const signed = { ...DOMAIN, chainId: 84_532, verifyingContract: TOKEN, ...domain };
  return { signature: await wallet.signTypedData(signed, TYPES, authorization), authorization };
}

export const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

export const v1 = (payload: Signed, more: object = {}) => ({
  x402Version: 1,
  scheme: 'exact',
  network: 'base-sepolia',
  payload,
  ...more,
});

export const v2 = (payload: Signed, more: object = {}) => ({
  x402Version: 2,
  accepted: {
    scheme: 'exact',
    network: 'eip155:84532',
    amount: payload.authorization.value,
    asset: TOKEN,
    payTo: PAY_TO,
    maxTimeoutSeconds: 300,
    extra: DOMAIN,
    ...more,
  },
  payload,
});

/** Where deposits are taken, with a chain and a facilitator on loopback. */
export async function openTestDesk(t: Test, { timeoutMs = 10_000 } = {}) {
  const chain = await fakeChain(t);
  const facilitator = await fakeFacilitator(t, chain);
  const settings: DepositSettings = {
    chainId: 84_532,
    network: 'base-sepolia',
    asset: TOKEN,
    payTo: PAY_TO,
    rpcUrl: chain.url,
    facilitator: { url: facilitator.url },
  };
  const desk: Desk = {
    settings,
    chain: openChain(settings),
    facilitator: remoteFacilitator({ url: facilitator.url }, timeoutMs),
    patience: { everyMs: 10, forMs: 150 },
  };
  return { chain, facilitator, desk };
}

/** A gateway that takes deposits. */
export async function cashier(t: Test, options: { timeoutMs?: number } = {}) {
  const { chain, facilitator, desk } = await openTestDesk(t, options);
  const gateway: Gateway = await build(t, { rateLimits: readPolicies('deposit=1000000/60') }, { desk });
  const deposit = (amount_usd: unknown, headers: Record<string, string> = {}) =>
    gateway.app.inject({ method: 'POST', url: '/api/deposit', headers, payload: { amount_usd } });
  return { ...gateway, chain, facilitator, desk, deposit };
}
