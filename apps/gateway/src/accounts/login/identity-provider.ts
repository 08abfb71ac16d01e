import type { JWTVerifyGetKey } from 'jose';
import type { IDToken, ServerMetadata, UserInfoResponse } from 'openid-client';
import type { ProviderSettings } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';
import { challengeOf, type LoginAttempt } from './login-attempt.ts';
import { type Discovery, providerDiscovery } from './provider-discovery.ts';
import { providerKeys } from './provider-keys.ts';

// The OpenID Connect provider as we use it: the way there, the way back, the way out, and the keys of its tokens.
// openid-client checks what comes back; every address that we name is built from our own settings.

export const CALLBACK_PATH = '/api/auth/callback';

/** A person is an issuer and a subject. The e-mail address identifies nobody and may change. */
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
  /** Its issuer as the settings spell it. */
  issuer: string;
  /** What it says about itself, where that is known. */
  known(): ServerMetadata | null;
  /** What it says about itself; 503 while it is away and was never there. */
  metadata(): Promise<ServerMetadata>;
  /** Where a browser goes to log in. */
  loginUrl(attempt: LoginAttempt): Promise<string>;
  /** Who came back with this query; 401 when anything about it is not as it has to be. */
  confirm(query: string, attempt: LoginAttempt): Promise<Person>;
  /** Where a browser goes to log out; null where the provider has no such place or is away. */
  logoutUrl(): Promise<string | null>;
  /** Who signs its access tokens, and with what. */
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
    const answer = new URL(callbackUrl);
    answer.search = query;
    const tokens = await authorizationCodeGrant(configuration, answer, {
      pkceCodeVerifier: attempt.verifier,
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new Error('no ID token');
    const asksElsewhere = claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined;
    const profile = asksElsewhere ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims;
    if (!isSubject(claims.sub)) throw new Error('not a subject');
    return { issuer: claims.iss, subject: claims.sub, ...verifiedEmail(profile) };
  }

  return {
    issuer: settings.issuer,
    known: discovery.known,
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
    async confirm(query, attempt) {
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
      if (uri === undefined) throw new Error('the identity provider names no keys');
      if (keySet?.uri !== uri) keySet = { uri, keys: providerKeys(uri) };
      return { issuer, keys: keySet.keys };
    },
  };
}

const DECLINED = 'The login was declined at the identity provider.';

/** OpenID Connect allows 255 ASCII characters; what is no such thing would be somebody's experiment. */
export const isSubject = (sub: string): boolean => /^[\x20-\x7e]{1,255}$/.test(sub);

/** An address that the provider did not verify may be anybody's. */
function verifiedEmail({ email, email_verified }: IDToken | UserInfoResponse): { email?: string } {
  const usable = email_verified === true && typeof email === 'string' && /^[^\s@]{1,64}@[^\s@]{1,189}$/.test(email);
  return usable ? { email } : {};
}
