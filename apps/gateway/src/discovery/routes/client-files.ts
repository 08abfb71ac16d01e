import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { DiscoveryContext } from '../context.ts';
import { serveDocument } from '../serve-document.ts';

const FILES = [
  {
    path: '/eloquentpoll.ts',
    operationId: 'getClientFile',
    summary: 'Get the typed client (one file)',
    description: 'Copy it into a project; it has no dependencies. By default it uses this service.',
    mediaType: 'text/plain',
    source: fileURLToPath(import.meta.resolve('@eloquentpoll/client/eloquentpoll.ts')),
    line: "export const BASE_URL = 'http://localhost:8080';",
    name: 'export const BASE_URL = ',
    end: ';',
  },
  {
    path: '/eloquentpoll.py',
    operationId: 'getPythonClientFile',
    summary: 'Get the typed client for Python (one file)',
    description:
      'Copy it into a project. It needs only Python 3.10 or newer, and has a blocking and an asyncio client. By default it uses this service.',
    mediaType: 'text/x-python',
    source: fileURLToPath(import.meta.resolve('@eloquentpoll/client/eloquentpoll.py')),
    line: 'BASE_URL = "http://localhost:8080"',
    name: 'BASE_URL = ',
    end: '',
  },
] as const;

/** The typed clients, one file each, with this service as the default base URL. */
export function clientFileRoutes(app: FastifyInstance, { config }: DiscoveryContext): void {
  for (const { source, line, name, end, ...document } of FILES) {
    const body = (): string => {
      const text = readFileSync(source, 'utf8');
      if (!text.includes(line)) throw new Error('the client does not say its base URL in the line that is served');
      return text.replace(line, () => `${name}${JSON.stringify(config.baseUrl)}${end}`);
    };
    serveDocument(app, { ...document, tag: 'System', body });
  }
}
