import type { Environment } from './environment.ts';
import { ConfigError, httpsUrl, integer } from './settings.ts';

// How money comes in: by card through Stripe, by wallet through x402. Each is there when its settings are, as a whole.

export interface CheckoutSettings {
  secretKey: string;
  /** Sign Stripe's events. Two of them while one is being replaced. */
  webhookSecrets: string[];
  /** Whether the key moves real money; an event of the other kind is nothing to us. */
  livemode: boolean;
  /** Instead of Stripe's own address. */
  apiBase?: string;
}

export function checkoutSettings(env: Environment): CheckoutSettings | null {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRETS: secrets } = env;
  if (secretKey === undefined && secrets === undefined) return null;
  if (!/^(sk|rk)_(live|test)_\w{8,}$/.test(secretKey ?? '')) {
    throw new ConfigError('STRIPE_SECRET_KEY', 'must be a secret or restricted key, such as sk_live_...');
  }
  const webhookSecrets = (secrets ?? '').split(',').map((secret) => secret.trim());
  if (webhookSecrets.length > 2 || !webhookSecrets.every((secret) => /^whsec_\w{8,}$/.test(secret))) {
    throw new ConfigError(
      'STRIPE_WEBHOOK_SECRETS',
      'must be one signing secret such as whsec_..., or two with a comma',
    );
  }
  return {
    secretKey: secretKey ?? '',
    webhookSecrets,
    livemode: /^.._live_/.test(secretKey ?? ''),
    ...(env.STRIPE_API_BASE && { apiBase: httpsUrl(env, 'STRIPE_API_BASE') }),
  };
}

export interface DepositSettings {
  chainId: number;
  /** What x402 version 1 calls the chain. */
  network: string;
  /** The token that is accepted: USDC, as a 0x-prefixed address like the next one. */
  asset: `0x${string}`;
  /** Whom payments are made to. */
  payTo: `0x${string}`;
  rpcUrl: string;
  /** Who checks payments and hands them to the chain: a server, or ourselves with a wallet that pays the fees. */
  facilitator: { url: string; token?: string } | { key: `0x${string}` };
}

/** Chains that both versions of x402 have a name for, and USDC on them. */
const NETWORKS: Record<number, { network: string; usdc: `0x${string}` }> = {
  8453: { network: 'base', usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  84532: { network: 'base-sepolia', usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
};

export function depositSettings(env: Environment, chainId: number): DepositSettings | null {
  if (env.X402_PAY_TO === undefined) {
    const others = [env.X402_ASSET, env.X402_FACILITATOR_URL, env.X402_FACILITATOR_TOKEN, env.X402_FACILITATOR_KEY];
    if (others.every((setting) => setting === undefined)) return null;
    throw new ConfigError('X402_PAY_TO', 'is not set, though other X402_ settings are');
  }
  const known = NETWORKS[chainId];
  if (!known) {
    throw new ConfigError('CHAIN_ID', `must be one of ${Object.keys(NETWORKS).join(', ')} where X402_PAY_TO is set`);
  }
  return {
    chainId,
    network: known.network,
    asset: hex(env, 'X402_ASSET', 20, 'an address such as 0x...', known.usdc),
    payTo: hex(env, 'X402_PAY_TO', 20, 'an address such as 0x...'),
    rpcUrl: httpsUrl(env, 'ETH_RPC_URL'),
    facilitator: facilitator(env),
  };
}

function facilitator(env: Environment): DepositSettings['facilitator'] {
  const { X402_FACILITATOR_URL: url, X402_FACILITATOR_TOKEN: token, X402_FACILITATOR_KEY: key } = env;
  if ((url === undefined) === (key === undefined)) {
    throw new ConfigError('X402_FACILITATOR_URL', 'or X402_FACILITATOR_KEY must be set, one of them');
  }
  if (key !== undefined) return { key: hex(env, 'X402_FACILITATOR_KEY', 32, 'a private key of 64 hexadecimal digits') };
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new ConfigError('X402_FACILITATOR_TOKEN', 'must be a token without blanks');
  }
  return { url: httpsUrl(env, 'X402_FACILITATOR_URL').replace(/\/+$/, ''), ...(token && { token }) };
}

function hex(env: Environment, name: keyof Environment, bytes: number, what: string, byDefault?: `0x${string}`) {
  const text = (env[name] ?? byDefault ?? '').replace(/^(0x)?/, '0x').toLowerCase();
  if (!new RegExp(`^0x[0-9a-f]{${bytes * 2}}$`).test(text) || /^0x0+$/.test(text)) {
    throw new ConfigError(name, `must be ${what}`);
  }
  return text as `0x${string}`;
}

export interface ReconcileSettings {
  /** How often Stripe is asked what became of payments that no event told about. */
  checkoutsS: number;
  /** How often the chain is asked what became of deposits that were left in the middle. */
  depositsS: number;
}

export const reconcileSettings = (env: Environment): ReconcileSettings => ({
  checkoutsS: integer(env, 'RECONCILE_CHECKOUTS_S', 900, 1, 86_400),
  depositsS: integer(env, 'RECONCILE_DEPOSITS_S', 60, 1, 3_600),
});
