import { admitIdentity, findIdentity, type Identity } from '@eloquentpoll/storage';
import { decodeJwt, errors, type JWTHeaderParameters, type JWTPayload, jwtVerify } from 'jose';
import { type Principal, SCOPES, type Scope } from '../../http/access.ts';
import type { AccountsContext } from '../context.ts';
import { requireOpen } from '../frozen.ts';
import { type IdentityProvider, isSubject } from './identity-provider.ts';

// Accepts OAuth access tokens of the identity provider: signed by it, with us as audience, not bound to a key (`cnf`).
// Issuer and subject name the same account as a browser login.

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const MAX_LENGTH = 8_192;
const FORM = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a bearer has the format of a signed JWT, which no API key has. */
export const looksLikeAccessToken = (bearer: string): boolean => bearer.length <= MAX_LENGTH && FORM.test(bearer);

/** The person has no account here, and the request may not open one. */
export class NoAccountHere extends Error {
  override readonly name = 'NoAccountHere';
}

/**
 * The principal of a token; null for a token that is not accepted. An account is created on first use; with
 * `opensAccount` false, `NoAccountHere` is thrown instead.
 */
export async function principalOfToken(
  context: AccountsContext,
  token: string,
  opensAccount = true,
): Promise<Principal | null> {
  const { identityProvider: provider, config, storage } = context;
  if (!provider) return null;
  const audience = audiencesOf(config.baseUrl);
  if (!isAddressedToUs(token, provider, audience)) return null;
  const claims = await verify(token, provider, audience, config.identityProvider?.clientId);
  // `cnf` binds a token to a key, and we do not check that the caller possesses it.
  if (!claims?.sub || !claims.iss || !isSubject(claims.sub) || claims.cnf !== undefined) return null;
  const person: Identity = { kind: 'oidc', issuer: claims.iss, subject: claims.sub };
  const known = await (opensAccount ? admitIdentity(storage, person) : findIdentity(storage, person));
  if (!known) throw new NoAccountHere('the token is of a person who has no account in this cell');
  const { accountId } = requireOpen(known);
  return { accountId, via: 'access_token', scopes: grantedScopes(claims) };
}

/**
 * Providers write `scope` (RFC 9068) or `scp`. A token without any of our scopes may run polls and read, but not manage
 * the account: otherwise a thief of the token could make a key that still works after the token has expired.
 */
function grantedScopes({ scope, scp }: JWTPayload): readonly Scope[] {
  const names = [scope, scp].flat().flatMap((text) => (typeof text === 'string' ? text.split(' ') : []));
  const granted = SCOPES.filter((name) => names.includes(name));
  return granted.length > 0 ? granted : ['polls:run', 'results:read'];
}

/** Our origin, with and without a slash, and the MCP endpoint. */
const audiencesOf = (baseUrl: string): string[] => [baseUrl, `${baseUrl}/`, `${baseUrl}/api/mcp`];

/** Rejects tokens for others before any lookup. The claims are not verified yet. */
function isAddressedToUs(token: string, { issuer }: IdentityProvider, audience: readonly string[]): boolean {
  try {
    const { iss = '', aud = [] } = decodeJwt(token);
    return URL.parse(iss)?.href === new URL(issuer).href && [aud].flat().some((name) => audience.includes(name));
  } catch {
    return false;
  }
}

async function verify(
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
    // Other errors are not about the token, for example an unreachable provider.
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

/**
 * RFC 9068 requires `typ: at+jwt`, but many providers write `JWT` or nothing, even in ID tokens. An ID token is
 * recognised by its audience, the client id, and by the claims that bind it to one login.
 */
function isAccessToken({ typ }: JWTHeaderParameters, claims: JWTPayload, clientId: string | undefined): boolean {
  const type = typ?.toLowerCase();
  if (type === 'at+jwt' || type === 'application/at+jwt') return true;
  if (type !== undefined && type !== 'jwt') return false;
  const isForClient = clientId !== undefined && [claims.aud].flat().includes(clientId);
  return !isForClient && ID_TOKEN_CLAIMS.every((name) => claims[name] === undefined) && claims.typ !== 'ID';
}

const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'];
