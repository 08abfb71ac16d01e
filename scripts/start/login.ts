import { newSecret } from '@eloquentpoll/services/secret';
import type { StartSettings } from './settings.ts';

// Where people log in: at the provider that the settings name, or at a local one while only people
// at this machine can reach the product.

export interface LoginPlan {
  /** Runs an identity provider here. */
  local: boolean;
  /** Between that one and the gateway; new with every start. */
  clientSecret: string;
}

export function planLogin(settings: StartSettings, env: NodeJS.ProcessEnv): LoginPlan {
  const isSet = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'].some((name) => env[name]?.trim());
  return { local: !isSet && isHere(settings) && env.NODE_ENV !== 'production', clientSecret: newSecret() };
}

/** Whether only people at this machine can reach the product under its own address. */
export const isHere = ({ baseUrl }: StartSettings): boolean =>
  baseUrl === null || LOOPBACK.test(new URL(baseUrl).hostname);

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
