import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';

/** Refuses requests from pages of other origins, against DNS rebinding. Agents are not browsers and send no Origin. */
export function refuseForeignOrigins({ baseUrl }: Config) {
  return async ({ headers }: FastifyRequest): Promise<void> => {
    if (headers.origin !== undefined && headers.origin !== baseUrl) throw new ApiError('forbidden_origin');
  };
}
