import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { DiscoveryContext } from '../context.ts';
import { serveDocument } from '../serve-document.ts';

const FILE = fileURLToPath(import.meta.resolve('@eloquentpoll/client/eloquentpoll.ts'));
const BASE_URL = "export const BASE_URL = 'http://localhost:8080';";

/** GET /eloquentpoll.ts: the typed client in one file, with this service as default base URL. */
export function clientFileRoute(app: FastifyInstance, { config }: DiscoveryContext): void {
  const source = readFileSync(FILE, 'utf8');
  if (!source.includes(BASE_URL)) throw new Error('the client does not say its base URL in the line that is served');
  const served = source.replace(BASE_URL, () => `export const BASE_URL = ${JSON.stringify(config.baseUrl)};`);
  serveDocument(app, {
    tag: 'System',
    path: '/eloquentpoll.ts',
    operationId: 'getClientFile',
    summary: 'Get the typed client (one file)',
    description: 'Copy it into a project: it imports nothing. Without other options it talks to this service.',
    mediaType: 'text/plain',
    body: () => served,
  });
}
