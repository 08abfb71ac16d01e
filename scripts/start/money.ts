import { newSecret } from '@eloquentpoll/services/secret';
import { isHere } from './login.ts';
import type { StartSettings } from './settings.ts';

// Configures payments: as the settings say, otherwise with play money of the simulator, so that deposits and checkout
// can be tried. Play money buys polls of simulated models only, and only on this machine.

/** What a simulator reports about its play money when it is ready. */
interface PlayMoney {
  chain_id: number;
  token: string;
  pay_to: string;
}

/** The gateway's settings for the simulator's play money; none if other machines can reach the product. */
export function moneyEnv(
  settings: StartSettings,
  env: NodeJS.ProcessEnv,
  { url, play_money }: Record<string, unknown>,
): Record<string, string> {
  // The user's own database may be used with real models later.
  if (!play_money || !isHere(settings) || settings.databaseUrl || env.NODE_ENV === 'production') return {};
  const { chain_id, token, pay_to } = play_money as PlayMoney;
  const none = (names: RegExp) => !Object.entries(env).some(([name, value]) => names.test(name) && value?.trim());
  return {
    ...(none(/^(X402_|ETH_RPC_URL$|CHAIN_ID$)/) && {
      CHAIN_ID: `${chain_id}`,
      ETH_RPC_URL: `${url}/chain`,
      X402_ASSET: token,
      X402_PAY_TO: pay_to,
      X402_FACILITATOR_URL: `${url}/facilitator`,
    }),
    // The simulator sends no Stripe events, so the signing secret is random.
    ...(none(/^STRIPE_/) && {
      STRIPE_SECRET_KEY: 'sk_test_playmoney',
      STRIPE_WEBHOOK_SECRETS: `whsec_${newSecret()}`,
      STRIPE_API_BASE: `${url}`,
      // Play money cannot be disputed, so nothing is held back.
      ...(none(/^CARD_HOLD_BACK_/) && { CARD_HOLD_BACK_DAYS: '0' }),
    }),
  };
}
