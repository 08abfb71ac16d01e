import Provider, { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { PRODUCT } from './client.ts';
import { memoryAdapter } from './memory-adapter.ts';
import { logoutPage, notePage } from './pages.ts';
import { personOf } from './people.ts';
import type { PersistedState } from './persisted-state.ts';

// The configuration of oidc-provider. The product is a client that needs no consent. Other clients, such as MCP
// clients, register themselves and need it. Tokens for the product are signed JWTs.

export interface ProviderOptions {
  issuer: string;
  /** The product's base URL. */
  baseUrl: string;
  clientSecret: string;
  state: Pick<PersistedState, 'signingKey' | 'cookieKey'>;
}

/** The scopes of access tokens for the product. */
const SCOPES = 'polls:run results:read account';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

export function localProvider({ issuer, baseUrl, clientSecret, state }: ProviderOptions): Provider {
  const resources = [baseUrl, `${baseUrl}/`, `${baseUrl}/api/mcp`];
  return new Provider(issuer, {
    adapter: memoryAdapter(),
    clients: [
      {
        client_id: PRODUCT,
        client_name: 'EloquentPoll',
        client_secret: clientSecret,
        redirect_uris: [`${baseUrl}/api/auth/callback`],
        post_logout_redirect_uris: [`${baseUrl}/`],
      },
    ],
    jwks: { keys: [state.signingKey] },
    cookies: { keys: [state.cookieKey] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false,
    findAccount: (_ctx, subject) => {
      const person = personOf(subject);
      return person
        ? { accountId: subject, claims: async () => ({ sub: subject, email: person.email, email_verified: true }) }
        : undefined;
    },
    loadExistingGrant,
    clientBasedCORS: () => true,
    responseTypes: ['code'],
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    renderError: (ctx, { error, error_description: description }) => {
      ctx.type = 'html';
      ctx.body = notePage('That did not work', description ?? error);
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        defaultResource: (_ctx, _client, oneOf) => oneOf ?? [],
        getResourceServerInfo: (_ctx, resource) => {
          if (!resources.includes(resource)) throw new errors.InvalidTarget();
          return { scope: SCOPES, audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } };
        },
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.body = logoutPage(form);
        },
        postLogoutSuccessSource: (ctx) => {
          ctx.body = notePage('Logged out', 'You can close this page.');
        },
      },
    },
    ttl: {
      AccessToken: HOUR_S,
      AuthorizationCode: 60,
      Grant: DAY_S,
      IdToken: HOUR_S,
      Interaction: HOUR_S,
      RefreshToken: DAY_S,
      Session: DAY_S,
    },
  });
}

/** The product needs no consent to learn who logged in. */
async function loadExistingGrant({ oidc }: KoaContextWithOIDC) {
  const { provider, client, session, result } = oidc;
  if (!client || !session?.accountId) return undefined;
  const known = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  if (known) return provider.Grant.find(known);
  if (client.clientId !== PRODUCT) return undefined;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope('openid email');
  await grant.save();
  return grant;
}
