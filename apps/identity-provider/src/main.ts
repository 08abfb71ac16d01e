import { startLocalProvider } from './server.ts';

// The local identity provider as a process of `npm start`. Anyone who can open its page can log in as any account, so it
// runs for a product on this machine, in development only.

function fail(reason: string): never {
  process.stderr.write(`identity provider: ${reason}\n`);
  process.exit(1);
}

const { NODE_ENV, HOST = '127.0.0.1', BASE_URL = '', FOLDER = '', CLIENT_SECRET = '' } = process.env;
const isLoopback = (host: string | undefined) => /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host ?? '');

if (NODE_ENV === 'production') fail('is for local development and does not run in production; set OIDC_ISSUER');
if (!isLoopback(HOST)) fail('HOST: must be a loopback address; whatever reaches it can log in as any account');
if (!isLoopback(URL.parse(BASE_URL)?.hostname)) fail('BASE_URL: must be on this machine; set OIDC_ISSUER otherwise');
if (FOLDER === '' || CLIENT_SECRET.length < 32) fail('FOLDER and CLIENT_SECRET: must be set');

const provider = await startLocalProvider({ folder: FOLDER, baseUrl: BASE_URL, clientSecret: CLIENT_SECRET });
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => void provider.stop().then(() => process.exit(0)));
process.stdout.write(`${JSON.stringify({ msg: 'ready', service: 'identity-provider', url: provider.issuer })}\n`);
