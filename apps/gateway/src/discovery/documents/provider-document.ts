import type { IdentityProvider } from '../../accounts/login/identity-provider.ts';

// The identity provider's metadata, completed with what a login here needs. If it was never fetched, only the issuer
// from the settings and that completion.

interface Provided {
  document: { issuer: string; [member: string]: unknown };
  /** Cache lifetime in seconds. */
  seconds: number;
}

export const KEPT_S = 3_600;
const KEPT_WHILE_AWAY_S = 10;

export async function providerDocument(provider: IdentityProvider): Promise<Provided> {
  const metadata = await provider.metadata().catch(() => null);
  if (!metadata) return { document: { issuer: provider.issuer, ...NEEDED }, seconds: KEPT_WHILE_AWAY_S };
  return { document: { ...NEEDED, ...metadata }, seconds: KEPT_S };
}

const NEEDED = {
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  grant_types_supported: ['authorization_code'],
  code_challenge_methods_supported: ['S256'],
  scopes_supported: ['openid', 'email'],
};
