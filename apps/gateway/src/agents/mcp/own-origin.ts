import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';

/** Whether pages of this origin may call: our own, and those that the operator names. */
export const originCheck =
  ({ baseUrl, mcpAllowedOrigins }: Pick<Config, 'baseUrl' | 'mcpAllowedOrigins'>) =>
  (origin: string): boolean =>
    origin === new URL(baseUrl).origin || mcpAllowedOrigins.includes('*') || mcpAllowedOrigins.includes(origin);

/** Refuses requests from pages of other origins, against DNS rebinding. Agents are not browsers and send no Origin. */
export const refuseForeignOrigins =
  (allows: (origin: string) => boolean) =>
  async ({ headers }: FastifyRequest): Promise<void> => {
    if (headers.origin !== undefined && !allows(headers.origin)) throw new ApiError('forbidden_origin');
  };
