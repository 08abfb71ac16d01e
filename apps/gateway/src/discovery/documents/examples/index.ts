import type { SiteFacts } from '../facts.ts';
import { curlExample } from './curl.ts';
import { mcpConfigExample } from './mcp-config.ts';
import { pythonExample } from './python.ts';
import { typescriptExample } from './typescript.ts';

// Code examples. A test runs each of them as served.

export const EXAMPLES = {
  curl: { mediaType: 'text/plain', code: curlExample },
  typescript: { mediaType: 'text/plain', code: typescriptExample },
  python: { mediaType: 'text/plain', code: pythonExample },
  'mcp-config': { mediaType: 'application/json', code: mcpConfigExample },
} as const satisfies Record<string, { mediaType: string; code: (facts: SiteFacts) => string }>;

export type ExampleLanguage = keyof typeof EXAMPLES;
export const EXAMPLE_LANGUAGES = Object.keys(EXAMPLES) as ExampleLanguage[];
