import type { Config } from '../config/config.ts';
import { agentCard, TASK_PATH } from './a2a/agent-card.ts';
import { REVISIONS } from './mcp/revisions.ts';

/** The agent card plus all other protocols of the service. Readers of A2A cards ignore the additional field. */
export function unifiedCard({ baseUrl, deposits }: Config): Record<string, unknown> {
  const at = (path: string): string => `${baseUrl}${path}`;
  return {
    ...agentCard(baseUrl),
    protocols: {
      a2a: {
        url: at(TASK_PATH),
        agent_card: at('/.well-known/agent-card.json'),
        protocolVersions: ['1.0', '0.3', '0.1'],
      },
      mcp: {
        url: at('/api/mcp'),
        transport: 'streamable-http',
        protocolVersions: [...REVISIONS],
        server_card: at('/.well-known/mcp/server-card.json'),
      },
      openapi: { url: at('/api/openapi.json'), version: '3.1.0' },
      asyncapi: { url: at('/asyncapi.json'), version: '3.0.0' },
      ...(deposits && {
        x402: { deposit: at('/api/deposit'), networks: [`eip155:${deposits.chainId}`], asset: deposits.asset },
      }),
      auth: {
        schemes: ['bearer'],
        keys: at('/api/keys'),
        wallet_challenge: at('/api/wallet/challenge'),
        protected_resource: at('/.well-known/oauth-protected-resource'),
      },
      api_catalog: at('/.well-known/api-catalog'),
      skills_index: at('/.well-known/agent-skills/index.json'),
      llms_txt: at('/llms.txt'),
      errors: at('/api/errors/catalog'),
    },
  };
}
