import type { FastifyInstance } from 'fastify';
import type { AgentHints } from './agent-hints.ts';

// The OpenAPI document in the form that other documents use: one row per operation, in the document's order.

export interface DescribedOperation {
  method: string;
  path: string;
  operationId: string;
  tag: string;
  summary: string;
  description?: string | undefined;
  /** Accepted security schemes; an empty object means no credentials. */
  security: readonly Record<string, readonly string[]>[];
  hints: AgentHints;
}

interface OperationObject {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  'x-agent-hints': AgentHints;
}

export function describedOperations(app: FastifyInstance): DescribedOperation[] {
  const { paths = {} } = app.swagger();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, OperationObject>).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operationId: operation.operationId,
      tag: operation.tags[0] ?? '',
      summary: operation.summary,
      description: operation.description,
      security: operation.security,
      hints: operation['x-agent-hints'],
    })),
  );
}

/** `none`, `session`, `bearer`, `session_or_bearer`; the last three with `_optional` if credentials may be omitted. */
export function authOf({ security }: Pick<DescribedOperation, 'security'>): string {
  const schemes = security.flatMap((way) => Object.keys(way));
  if (schemes.length === 0) return 'none';
  const optional = security.some((way) => Object.keys(way).length === 0);
  return `${schemes.map((scheme) => NAMES[scheme] ?? scheme).join('_or_')}${optional ? '_optional' : ''}`;
}

const NAMES: Record<string, string> = { apiKey: 'bearer' };
