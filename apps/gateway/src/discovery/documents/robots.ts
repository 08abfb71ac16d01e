import type { Config } from '../../config/config.ts';

// What crawlers may fetch, and for which purpose. A crawler reads only the group that names it, so every group contains
// all rules.

/** User agents of crawlers that answer questions or train models. */
export const AI_AGENTS = [
  'GPTBot',
  'ChatGPT-User',
  'OAI-SearchBot',
  'ClaudeBot',
  'Claude-User',
  'Claude-SearchBot',
  'anthropic-ai',
  'Google-Extended',
  'PerplexityBot',
  'Perplexity-User',
  'CCBot',
  'Applebot-Extended',
  'Bytespider',
  'meta-externalagent',
  'Amazonbot',
  'MistralAI-User',
  'DuckAssistBot',
];

/** Pages with personal content. */
const PRIVATE = ['/dashboard', '/api/auth/'];

export function robots({ baseUrl, contentSignal }: Config): string {
  const rules = [`Content-Signal: ${contentSignal}`, 'Allow: /', ...PRIVATE.map((path) => `Disallow: ${path}`)];
  return [
    '# Everybody',
    'User-agent: *',
    ...rules,
    '',
    '# Assistants and crawlers of AI companies: the same, said by name',
    ...AI_AGENTS.map((agent) => `User-agent: ${agent}`),
    ...rules,
    '',
    `Sitemap: ${baseUrl}/sitemap.xml`,
    '',
  ].join('\n');
}
