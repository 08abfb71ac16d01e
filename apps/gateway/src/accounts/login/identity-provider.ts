import type { JWTVerifyGetKey } from 'jose';
import type { IDToken, ServerMetadata, UserInfoResponse } from 'openid-client';
import type { ProviderSettings } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';
import { challengeOf, type LoginAttempt } from './login-attempt.ts';
import { type Discovery, providerDiscovery } from './provider-discovery.ts';
import { providerKeys } from './provider-keys.ts';

// The OpenID Connect provider: login, callback, logout and token keys. openid-client validates responses; every
// redirect URI is built from our own settings.

export const CALLBACK_PATH = '/api/auth/callback';

/** Identified by issuer and subject. The e-mail address may change and is not an identifier. */
export interface Person {
  issuer: string;
  subject: string;
  email?: string;
}

export interface TokenKeys {
  issuer: string;
  keys: JWTVerifyGetKey;
}

export interface IdentityProvider {
  /** Spelled as in the settings. */
  issuer: string;
  /** The discovery document; 503 if it was never fetched and the provider does not answer. */
  metadata(): Promise<ServerMetadata>;
  /** The address where a browser logs in. */
  loginUrl(attempt: LoginAttempt): Promise<string>;
  /** Exchanges the code in a callback's query; 401 when it does not match the attempt. */
  redeem(query: string, attempt: LoginAttempt): Promise<Person>;
  /** The address where a browser logs out; null if the provider has no end_session_endpoint or does not answer. */
  logoutUrl(): Promise<string | null>;
  /** Issuer and JWKS of the provider's access tokens. */
  tokenKeys(): Promise<TokenKeys>;
}

export function identityProvider(
  settings: ProviderSettings,
  baseUrl: string,
  discovery: Discovery = providerDiscovery(settings),
): IdentityProvider {
  const callbackUrl = `${baseUrl}${CALLBACK_PATH}`;
  let keySet: { uri: string; keys: JWTVerifyGetKey } | null = null;

  async function exchange(query: string, attempt: LoginAttempt): Promise<Person> {
    const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client');
    const configuration = await discovery.configuration();
    const callback = new URL(callbackUrl);
    callback.search = query;
    const tokens = await authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: attempt.verifier,
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new Error('no ID token');
    const needsUserInfo = claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
    const profile = needsUserInfo ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims;
    if (!isSubject(claims.sub)) throw new Error('invalid subject in the ID token');
    return { issuer: claims.iss, subject: claims.sub, ...verifiedEmail(profile) };
  }

  return {
    issuer: settings.issuer,
    metadata: async () => (await discovery.configuration()).serverMetadata(),
    async loginUrl(attempt) {
      const configuration = await discovery.configuration();
      const { buildAuthorizationUrl } = await import('openid-client');
      return buildAuthorizationUrl(configuration, {
        redirect_uri: callbackUrl,
        scope: 'openid email',
        code_challenge: challengeOf(attempt),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: attempt.nonce,
      }).href;
    },
    async redeem(query, attempt) {
      try {
        return await exchange(query, attempt);
      } catch (cause) {
        const declined = cause instanceof Error && 'error' in cause && cause.error === 'access_denied';
        throw new ApiError('login_failed', { cause, ...(declined && { detail: DECLINED }) });
      }
    },
    async logoutUrl() {
      try {
        const configuration = await discovery.configuration();
        if (!configuration.serverMetadata().end_session_endpoint) return null;
        const { buildEndSessionUrl } = await import('openid-client');
        return buildEndSessionUrl(configuration, { post_logout_redirect_uri: `${baseUrl}/` }).href;
      } catch {
        return null;
      }
    },
    async tokenKeys() {
      const { issuer, jwks_uri: uri } = (await discovery.configuration()).serverMetadata();
      if (uri === undefined) throw new Error('the identity provider has no jwks_uri');
      if (keySet?.uri !== uri) keySet = { uri, keys: providerKeys(uri) };
      return { issuer, keys: keySet.keys };
    },
  };
}

const DECLINED = 'Sign-in was cancelled.';

/** OpenID Connect allows 255 ASCII characters. */
export const isSubject = (sub: string): boolean => /^[\x20-\x7e]{1,255}$/.test(sub);

/** An address that the provider has not verified may belong to another person. */
function verifiedEmail({ email, email_verified }: IDToken | UserInfoResponse): { email?: string } {
  const usable = email_verified === true && typeof email === 'string' && /^[^\s@]{1,64}@[^\s@]{1,189}$/.test(email);
  return usable ? { email } : {};
}
