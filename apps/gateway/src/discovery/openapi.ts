import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import packageJson from '../../package.json' with { type: 'json' };
import { LOGIN_COOKIE } from '../accounts/login/login-cookie.ts';
import type { Config } from '../config/config.ts';
import { TAGS } from '../http/tags.ts';
import { namedSchemas } from '../http/validation/validator.ts';
import { SAMPLES } from './documents/operation-samples.ts';

// The description of the service is read from the routes that serve it. Every named shape of the contract is a
// component under its own name.

export const openapi = plugin(async (app: FastifyInstance, { config }: { config: Config }) => {
  for (const schema of namedSchemas) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'EloquentPoll',
        version: packageJson.version,
        description:
          'Ask several AI models one multiple-choice question; each votes, and the poll stops as soon as its outcome is certain enough.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: config.baseUrl }],
      tags: [...TAGS],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'ep_k_...',
            description:
              'An API key, created with POST /api/keys; or an access token of the identity provider whose audience is this service.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: LOGIN_COOKIE,
            description: 'Set by a login; does not count in requests from pages of others.',
          },
        },
      },
    },
    transformObject: (document) =>
      'openapiObject' in document ? withSamples(document.openapiObject) : document.swaggerObject,
    refResolver: {
      buildLocalReference: (schema, _baseUri, _fragment, index) => String(schema.$id ?? `shape-${index}`),
    },
  });
});

/** Generators and readers show the sample instead of a body made up from types. */
function withSamples<T extends { paths?: object | undefined }>(document: T): T {
  const paths = (document.paths ?? {}) as Record<string, Record<string, SampledOperation>>;
  for (const { operationId = '', requestBody } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const body = SAMPLES[operationId]?.body;
    const json = requestBody?.content?.['application/json'];
    if (body && json) json.example = body;
  }
  return document;
}

interface SampledOperation {
  operationId?: string;
  requestBody?: { content?: Record<string, { example?: unknown }> };
}
