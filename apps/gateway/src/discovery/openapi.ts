import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import plugin from 'fastify-plugin';
import packageJson from '../../package.json' with { type: 'json' };
import { LOGIN_COOKIE } from '../accounts/login/login-cookie.ts';
import { TAGS } from '../http/tags.ts';
import { namedSchemas } from '../http/validation/validator.ts';
import type { DiscoveryContext } from './context.ts';
import { defaultsInWords } from './description/defaults.ts';
import { shareErrorAnswers } from './description/error-answers.ts';
import { addExamples, describeAll } from './description/examples.ts';
import { declareHeaders } from './description/headers.ts';
import { spellObjectParameters } from './description/object-parameters.ts';
import { withOneAnswer } from './description/one-answer.ts';
import type { OpenApiDocument } from './description/shapes.ts';
import { dropUnusedShapes } from './description/unused.ts';
import { describedWebhooks } from './description/webhooks.ts';

// Generates the OpenAPI document from the routes themselves. Every named shape of the contract is a component under its
// name.

export const openapi = plugin(async (app: FastifyInstance, { context }: { context: DiscoveryContext }) => {
  const { config } = context;
  for (const schema of namedSchemas) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'EloquentPoll',
        version: packageJson.version,
        description: `Ask several AI models one multiple-choice question; each votes, and the poll stops as soon as its outcome is certain enough. Polls and their results are deleted ${config.retentionS / 86_400} days after their deadline, or earlier with \`expires_in\`; \`expires_at\` of a result is the time of deletion.`,
        license: { name: 'MIT', identifier: 'MIT' },
        contact: { email: config.contactEmail, url: config.baseUrl },
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
              'An API key, created with POST /api/keys, or an access token of the identity provider with this service as audience.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: LOGIN_COOKIE,
            description: 'Set by a login; ignored in requests from pages of other sites.',
          },
        },
      },
    },
    transform: ({ schema, url }) => ({ schema: withOneAnswer(schema), url }),
    transformObject: (document) =>
      'openapiObject' in document ? finished(document.openapiObject, context) : document.swaggerObject,
    refResolver: {
      buildLocalReference: (schema, _baseUri, _fragment, index) => String(schema.$id ?? `shape-${index}`),
    },
  });
});

/** The document as served: rewritten for readers and generators, on a copy, because routes share its parts. */
function finished(document: object, context: DiscoveryContext): OpenApiDocument {
  const copy = JSON.parse(JSON.stringify(document)) as OpenApiDocument;
  // With dry_run the answer has another shape, which POST /api/poll/dry-run describes.
  delete copy.components.schemas.PollRequest?.properties?.dry_run;
  describeAll(copy);
  addExamples(copy, context);
  defaultsInWords(copy);
  spellObjectParameters(copy);
  shareErrorAnswers(copy);
  declareHeaders(copy);
  dropUnusedShapes(copy);
  return { ...copy, webhooks: describedWebhooks() };
}
