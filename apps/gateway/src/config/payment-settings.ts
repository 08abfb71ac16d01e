import { httpsUrl, SettingError } from '@eloquentpoll/ops/settings';
import type { GatewayValues } from './settings-table.ts';

// How money comes in: by card through Stripe, by wallet through x402. Each needs all of its settings or none.

export interface CheckoutSettings {
  secretKey: string;
  /** Verify the signatures of Stripe's events. There are two while one is being replaced. */
  webhookSecrets: string[];
  /** Whether the key moves real money; events of the other mode are ignored. */
  livemode: boolean;
  /** Replaces Stripe's own address. */
  apiBase?: string;
}

export function checkoutSettings(values: GatewayValues): CheckoutSettings | null {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRETS: webhookSecrets, STRIPE_API_BASE: apiBase } = values;
  if (secretKey === undefined && webhookSecrets === undefined) return null;
  if (secretKey === undefined)
    throw new SettingError('STRIPE_SECRET_KEY', 'is not set, though STRIPE_WEBHOOK_SECRETS is');
  if (webhookSecrets === undefined)
    throw new SettingError('STRIPE_WEBHOOK_SECRETS', 'is not set, though STRIPE_SECRET_KEY is');
  return { secretKey, webhookSecrets, livemode: /^.._live_/.test(secretKey), ...(apiBase && { apiBase }) };
}

export interface DepositSettings {
  chainId: number;
  /** The chain's name in x402 version 1. */
  network: string;
  /** Address of the accepted token, USDC. */
  asset: `0x${string}`;
  /** The address that receives payments. */
  payTo: `0x${string}`;
  rpcUrl: string;
  /** Maximum number of blocks per query to the node. */
  logRange: number;
  /** Verifies payments and submits them to the chain: a server, or this process with a wallet that pays the gas. */
  facilitator: { url: string; token?: string } | { key: `0x${string}` };
}

/** Chains with a name in both versions of x402, and the address of USDC on them. */
const NETWORKS: Record<number, { network: string; usdc: `0x${string}` }> = {
  8453: { network: 'base', usdc: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' },
  84532: { network: 'base-sepolia', usdc: '0x036cbd53842c5426634e7929541ec2318f3dcf7e' },
};

export function depositSettings(values: GatewayValues): DepositSettings | null {
  const { CHAIN_ID: chainId, X402_PAY_TO: payTo, X402_ASSET: asset, ETH_RPC_URL } = values;
  if (payTo === undefined) {
    const { X402_FACILITATOR_URL, X402_FACILITATOR_TOKEN, X402_FACILITATOR_KEY } = values;
    if (asset === undefined && !X402_FACILITATOR_URL && !X402_FACILITATOR_TOKEN && !X402_FACILITATOR_KEY) return null;
    throw new SettingError('X402_PAY_TO', 'is not set, though other X402_ settings are');
  }
  const known = NETWORKS[chainId];
  if (!known)
    throw new SettingError('CHAIN_ID', `must be one of ${Object.keys(NETWORKS).join(', ')} where X402_PAY_TO is set`);
  const rpcUrl = ETH_RPC_URL && httpsUrl.read(ETH_RPC_URL);
  if (!rpcUrl) throw new SettingError('ETH_RPC_URL', `must be ${httpsUrl.form}, where X402_PAY_TO is set`);
  return {
    chainId,
    network: known.network,
    asset: asset ?? known.usdc,
    payTo,
    rpcUrl,
    logRange: values.ETH_LOG_RANGE,
    facilitator: facilitator(values),
  };
}

function facilitator(values: GatewayValues): DepositSettings['facilitator'] {
  const { X402_FACILITATOR_URL: url, X402_FACILITATOR_TOKEN: token, X402_FACILITATOR_KEY: key } = values;
  if (url !== undefined && key === undefined) return { url: url.replace(/\/+$/, ''), ...(token && { token }) };
  if (url === undefined && key !== undefined) return { key };
  throw new SettingError('X402_FACILITATOR_URL', 'or X402_FACILITATOR_KEY must be set, one of them');
}

export interface ReconcileSettings {
  /** How often Stripe is queried about payments without an event. */
  checkoutsS: number;
  /** How often the chain is queried about unfinished deposits. */
  depositsS: number;
  /** How often all transfers to us are compared with deposits. */
  transfersS: number;
  /** How often all movements at Stripe are compared with the ledger. */
  movementsS: number;
}
