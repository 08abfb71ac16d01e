import { newSecret } from '@eloquentpoll/services/secret';
import type { StartSettings } from './settings.ts';

// Decides where people log in: at the provider in the settings, or at a local one if only this machine can reach the
// product.

export interface LoginPlan {
  /** Whether to run an identity provider here. */
  local: boolean;
  /** Shared with that provider; new at every start. */
  clientSecret: string;
}

export function planLogin(settings: StartSettings, env: NodeJS.ProcessEnv): LoginPlan {
  const isSet = ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'].some((name) => env[name]?.trim());
  return { local: !isSet && isHere(settings) && env.NODE_ENV !== 'production', clientSecret: newSecret() };
}

/** Whether the product can be reached only from this machine: it listens only here, and no proxy publishes it. */
export const isHere = ({ host, baseUrl }: StartSettings): boolean =>
  LOOPBACK.test(host) && (baseUrl === null || LOOPBACK.test(new URL(baseUrl).hostname));

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/;
