import { lyingProvider } from '@eloquentpoll/testkit/fakes/provider';
import t from 'tap';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const BASE = 'https://polls.example';
const CONFIGURATION = '/.well-known/openid-configuration';

t.test(
  '[§4.7-openid-configuration] metadata of the provider is cached; while it does not answer, settings are served',
  async (t) => {
    const provider = await lyingProvider(t);
    const { app } = await build(t, { identityProvider: provider });
    provider.lies = { away: true };
    const away = await app.inject({ url: CONFIGURATION });
    t.equal(away.statusCode, 200);
    t.match(away.json(), { issuer: provider.issuer, response_types_supported: ['code'] });
    t.match(away.headers, { 'cache-control': 'public, max-age=10' });

    provider.lies = {};
    const { app: asked } = await build(t, { identityProvider: provider });
    const answer = await asked.inject({ url: CONFIGURATION });
    t.match(answer.json(), {
      issuer: provider.issuer,
      authorization_endpoint: `${provider.issuer}/auth`,
      token_endpoint: `${provider.issuer}/token`,
      jwks_uri: `${provider.issuer}/jwks`,
      end_session_endpoint: `${provider.issuer}/logout?kept=1`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['openid', 'email'],
    });
    t.match(answer.headers, { 'cache-control': 'public, max-age=3600', 'access-control-allow-origin': '*' });
    const requests = provider.asked.length;
    const again = await asked.inject({ url: CONFIGURATION, headers: { 'if-none-match': String(answer.headers.etag) } });
    t.equal(again.statusCode, 304);
    t.equal(provider.asked.length, requests, 'asked once');
    t.equal((await asked.inject({ method: 'HEAD', url: CONFIGURATION })).statusCode, 200);

    const { app: without } = await build(t);
    const none = await without.inject({ url: CONFIGURATION });
    t.match([none.statusCode, none.json().code], [503, 'not_configured']);
  },
);

t.test(
  '[§4.7-oauth-protected-resource, §4.7-get-no-auth] the resource document names our authorization server, for the API and for MCP',
  async (t) => {
    const provider = await lyingProvider(t);
    const { app } = await build(t, { identityProvider: provider });
    for (const path of ['', '/api/mcp']) {
      const answer = await app.inject({ url: `/.well-known/oauth-protected-resource${path}` });
      t.equal(answer.statusCode, 200);
      t.same(answer.json(), {
        resource: `${BASE}${path}`,
        authorization_servers: [provider.issuer],
        scopes_supported: ['openid', 'email', 'polls:run', 'results:read', 'account'],
        bearer_methods_supported: ['header'],
        resource_name: 'EloquentPoll',
        resource_documentation: `${BASE}/api/docs`,
      });
      t.match(answer.headers, { 'cache-control': 'public, max-age=3600' });
    }
    const challenge = (await app.inject({ url: '/api/keys' })).headers['www-authenticate'];
    t.match(challenge, `resource_metadata="${BASE}/.well-known/oauth-protected-resource"`);

    const url = '/.well-known/oauth-protected-resource';
    provider.lies = { metadata: { issuer: `${provider.issuer}/` } };
    const { app: unasked } = await build(t, { identityProvider: provider });
    t.match((await unasked.inject({ url })).json(), { authorization_servers: [`${provider.issuer}/`] });
    provider.lies = { away: true };
    const { app: alone } = await build(t, { identityProvider: provider });
    const away = await alone.inject({ url });
    t.match(away.json(), { authorization_servers: [provider.issuer] });
    t.match(away.headers, { 'cache-control': 'public, max-age=10' });

    const { app: without } = await build(t);
    const none = (await without.inject({ url })).json();
    t.notOk('authorization_servers' in none, 'a member without elements is left out');
  },
);
