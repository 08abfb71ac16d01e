import { newSecret } from '@eloquentpoll/services/secret';
import { isHere } from './login.ts';
import type { StartSettings } from './settings.ts';

// How money comes in at a start: as the settings say, or else with play money of the simulator, so that deposits and
// checkout can be tried. Play money buys polls of simulated models only, and only on this machine.

/** What a simulator says about its money when it is ready. */
interface PlayMoney {
  chain_id: number;
  token: string;
  pay_to: string;
}

/** What the gateway has to know about the simulator's play money; nothing where others could reach it. */
export function moneyEnv(
  settings: StartSettings,
  env: NodeJS.ProcessEnv,
  { url, play_money }: Record<string, unknown>,
): Record<string, string> {
  // A database of the caller's own may be used with real models later.
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
    // Its events are not sent, so the signing secret is random.
    ...(none(/^STRIPE_/) && {
      STRIPE_SECRET_KEY: 'sk_test_playmoney',
      STRIPE_WEBHOOK_SECRETS: `whsec_${newSecret()}`,
      STRIPE_API_BASE: `${url}`,
      // No card is behind it that could be disputed.
      ...(none(/^CARD_HOLD_BACK_/) && { CARD_HOLD_BACK_DAYS: '0' }),
    }),
  };
}
