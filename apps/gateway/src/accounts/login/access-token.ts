import { admitIdentity } from '@eloquentpoll/storage';
import { decodeJwt, errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import type { AccountsContext } from '../context.ts';
import { type IdentityProvider, isSubject } from './identity-provider.ts';

// Access tokens of the identity provider, so that clients which log in by OAuth need no key of ours. One counts when
// the provider signed it, for us, and for whoever holds it; the person it names is the one who logs in with a browser.

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const LONGEST = 8_192;
const FORM = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a bearer has the form of a signed JWT, which no API key has. */
export const looksLikeAccessToken = (bearer: string): boolean => bearer.length <= LONGEST && FORM.test(bearer);

/** The account of whom the token speaks, opened on first use; null for a token that does not count here. */
export async function accountOfToken(context: AccountsContext, token: string): Promise<string | null> {
  const { identityProvider: provider, config, storage } = context;
  if (!provider) return null;
  const audience = audiencesOf(config.baseUrl);
  if (!claimsToBeOurs(token, provider, audience)) return null;
  const claims = await verified(token, provider, audience, config.identityProvider?.clientId);
  // Bound to a key that its holder would have to prove, which nobody does here.
  if (!claims?.sub || !claims.iss || !isSubject(claims.sub) || claims.cnf !== undefined) return null;
  const { accountId } = await admitIdentity(storage, { kind: 'oidc', issuer: claims.iss, subject: claims.sub });
  return accountId;
}

/** The service as a resource, in both spellings of an origin, and its MCP endpoint. */
const audiencesOf = (baseUrl: string): string[] => [baseUrl, `${baseUrl}/`, `${baseUrl}/api/mcp`];

/** Nonsense and other people's tokens cost no look-up. Nothing that is read here is believed. */
function claimsToBeOurs(token: string, { issuer }: IdentityProvider, audience: readonly string[]): boolean {
  try {
    const { iss = '', aud = [] } = decodeJwt(token);
    return URL.parse(iss)?.href === new URL(issuer).href && [aud].flat().some((name) => audience.includes(name));
  } catch {
    return false;
  }
}

async function verified(
  token: string,
  provider: IdentityProvider,
  audience: string[],
  clientId: string | undefined,
): Promise<JWTPayload | null> {
  const { issuer, keys } = await provider.tokenKeys();
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'exp'],
      clockTolerance: 5,
    });
    return isAccessToken(protectedHeader, payload, clientId) ? payload : null;
  } catch (error) {
    // Anything else says nothing about the token.
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/**
 * By RFC 9068 an access token says `at+jwt`; many providers write `JWT` or nothing, on ID tokens too. An ID token is for the
 * client, which its audience has to name, and carries what binds it to one login.
 */
function isAccessToken({ typ }: JWTHeaderParameters, claims: JWTPayload, clientId: string | undefined): boolean {
  const type = typ?.toLowerCase();
  if (type === 'at+jwt' || type === 'application/at+jwt') return true;
  if (type !== undefined && type !== 'jwt') return false;
  const isForClient = clientId !== undefined && [claims.aud].flat().includes(clientId);
  return !isForClient && ID_TOKEN_CLAIMS.every((name) => claims[name] === undefined) && claims.typ !== 'ID';
}

const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'];
