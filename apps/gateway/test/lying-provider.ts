import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import type { Test } from 'tap';
import type { ProviderSettings } from '../src/config.ts';

// An identity provider that says what a test wants it to say. Left alone it is honest. It has no page: tests make up
// the answer that a browser would come back with.

export interface Lies {
  /** Claims of the next ID token instead of the honest ones. */
  claims?: (honest: JWTPayload) => JWTPayload;
  /** The next ID token, instead of an honestly signed one. */
  idToken?: (claims: JWTPayload) => Promise<string> | string;
  /** The whole answer of the token endpoint. */
  token?: (response: ServerResponse) => void;
  userinfo?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
  /** Nobody gets an answer. */
  away?: boolean;
}

export interface LyingProvider extends ProviderSettings {
  lies: Lies;
  /** Paths that were asked for. */
  asked: string[];
  publicKeyPem: string;
  sign(claims: JWTPayload, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** With the same key, listed once more as good for anything. */
  signBy(algorithm: string, claims: JWTPayload): Promise<string>;
  /** Notes what an attempt expects, as the provider's page would. */
  meet(loginUrl: string): Promise<{ state: string; code: string }>;
}

const KID = 'the key';
const ANY = 'the key for anything';

export async function lyingProvider(t: Pick<Test, 'teardown'>): Promise<LyingProvider> {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const bare = await exportJWK(publicKey);
  const keys: JWK[] = [
    { ...bare, kid: KID, alg: 'RS256', use: 'sig' },
    { ...bare, kid: ANY },
  ];
  const attempts = new Map<string, { nonce: string; challenge: string }>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;

  const provider: LyingProvider = {
    issuer,
    clientId: 'polls',
    clientSecret: 'a secret',
    lies: {},
    asked: [],
    publicKeyPem: await exportSPKI(publicKey),
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: KID, ...header }).sign(privateKey, {
        crit: Object.fromEntries((header.crit ?? []).map((name) => [name, true])),
      }),
    async signBy(alg, claims) {
      const key = await importJWK(await exportJWK(privateKey), alg);
      return new SignJWT(claims).setProtectedHeader({ alg, kid: ANY }).sign(key);
    },
    async meet(loginUrl) {
      const query = new URL(loginUrl).searchParams;
      const code = `code-${attempts.size}`;
      attempts.set(code, { nonce: query.get('nonce') ?? '', challenge: query.get('code_challenge') ?? '' });
      return { state: query.get('state') ?? '', code };
    },
  };

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    end_session_endpoint: `${issuer}/logout?kept=1`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    // What is announced must not matter.
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    ...provider.lies.metadata,
  });

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { lies } = provider;
    if (lies.token) return lies.token(response);
    const form = new URLSearchParams(body);
    const attempt = attempts.get(form.get('code') ?? '');
    const verifier = form.get('code_verifier') ?? '';
    if (!attempt || createHash('sha256').update(verifier).digest('base64url') !== attempt.challenge) {
      return json(response, { error: 'invalid_grant', error_description: 'no such code' }, 400);
    }
    const now = Math.floor(Date.now() / 1000);
    const honest = { iss: issuer, sub: 'ann', aud: provider.clientId, nonce: attempt.nonce, iat: now, exp: now + 60 };
    const claims = lies.claims?.(honest) ?? honest;
    const id_token = await (lies.idToken ?? provider.sign)(claims);
    json(response, { access_token: 'opaque', token_type: 'Bearer', ...(id_token && { id_token }) });
  }

  server.on('request', (request, response) => {
    const path = request.url ?? '';
    provider.asked.push(path);
    if (provider.lies.away) return void request.socket.destroy();
    if (path === '/.well-known/openid-configuration') return json(response, metadata());
    if (path === '/jwks') return json(response, { keys });
    if (path === '/userinfo') return json(response, provider.lies.userinfo ?? { sub: 'ann' });
    if (path === '/token') return void token(request, response);
    json(response, {}, 404);
  });
  return provider;
}

export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
