import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import type { Test } from 'tap';
import type { ProviderSettings } from '../src/config.ts';

// A real identity provider on the loopback, strict as it is by default, where everybody who comes is let in as the
// person that the test names.

const RESOURCES = ['', '/', '/api/mcp'];

export interface RealProvider extends ProviderSettings {
  /** Who comes next. */
  person: { id: string; email?: string; email_verified?: boolean };
}

export async function realProvider(t: Test, baseUrl: string): Promise<RealProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const real: RealProvider = {
    issuer,
    clientId: 'polls',
    // With what has to be encoded in a Basic header.
    clientSecret: 'a secret: of 32 characters + more %',
    person: { id: 'ann', email: 'ann@example.com', email_verified: true },
  };
  // It says what it would need in production; this one lives for one test.
  for (const name of ['warn', 'info'] as const) t.capture(console, name);
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: real.clientId,
        client_secret: real.clientSecret,
        redirect_uris: [`${baseUrl}/api/auth/callback`],
        post_logout_redirect_uris: [`${baseUrl}/`],
      },
    ],
    cookies: { keys: ['a key of the provider'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_ctx, id) => ({ accountId: id, claims: async () => ({ ...real.person, sub: id }) }),
    async loadExistingGrant({ oidc }) {
      const accountId = oidc.session?.accountId;
      if (!oidc.client || !accountId) return undefined;
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: '',
          audience: RESOURCES.some((path) => resource === baseUrl + path) ? resource : 'https://elsewhere.example',
          accessTokenFormat: 'jwt',
        }),
      },
      rpInitiatedLogout: { enabled: true },
    },
  });
  const callback = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void callback(request, response);
    void provider.interactionFinished(request, response, { login: { accountId: real.person.id } });
  });
  return real;
}
