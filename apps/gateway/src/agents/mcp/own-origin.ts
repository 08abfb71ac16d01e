import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';

/**
 * A browser names the page that a request comes from, and pages of others may not speak MCP here: that is what keeps a
 * page that points its own name at our address from using whoever looks at it. Agents are no browsers and name none.
 */
export function refuseForeignOrigins({ baseUrl }: Config) {
  return async ({ headers }: FastifyRequest): Promise<void> => {
    if (headers.origin !== undefined && headers.origin !== baseUrl) throw new ApiError('forbidden_origin');
  };
}
