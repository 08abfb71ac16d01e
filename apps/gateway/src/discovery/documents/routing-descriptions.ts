import type { FastifyInstance } from 'fastify';
import { authOf, describedOperations } from './api-description.ts';

/** Every operation with its hints, for agents that choose an operation before they read its schema. */
export function routingDescriptions(app: FastifyInstance, baseUrl: string): Record<string, unknown> {
  return {
    version: '1.0.0',
    base_url: baseUrl,
    generated_at: new Date().toISOString(),
    routes: describedOperations(app).map((operation) => ({
      method: operation.method,
      path: operation.path,
      operationId: operation.operationId,
      summary: operation.summary,
      auth: authOf(operation),
      'x-agent-hints': operation.hints,
    })),
  };
}
