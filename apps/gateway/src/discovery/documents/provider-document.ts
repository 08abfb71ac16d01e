import type { IdentityProvider } from '../../accounts/login/identity-provider.ts';

// The metadata of the identity provider as we pass it on: its own, completed by what a login here needs. While it is
// away and was never asked with success, what our settings know: who it is, where the rest can be read.

interface Provided {
  document: Record<string, unknown>;
  /** How long it may be kept. */
  seconds: number;
}

const KEPT_S = 3_600;
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
