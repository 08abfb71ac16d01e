import { ExampleListing } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import { EXAMPLE_LANGUAGES, EXAMPLES } from '../documents/examples/index.ts';
import type { Facts } from '../documents/facts.ts';
import { serveDocument } from '../serve-document.ts';

// GET /api/examples lists the languages; GET /api/examples/{language} is a complete program.

export function exampleRoutes(app: FastifyInstance, facts: Facts): void {
  serveDocument(app, {
    path: '/api/examples',
    operationId: 'listExamples',
    tag: 'System',
    summary: 'List examples',
    mediaType: 'application/json',
    shape: ExampleListing,
    body: () =>
      JSON.stringify({
        available: EXAMPLE_LANGUAGES,
        endpoints: EXAMPLE_LANGUAGES.map((language) => `/api/examples/${language}`),
      }),
  });

  const code = new Map<string, { mediaType: string; text: string }>(
    Object.entries(EXAMPLES).map(([language, { mediaType, code }]) => [language, { mediaType, text: code(facts) }]),
  );
  app.get<{ Params: { language: string } }>(
    '/api/examples/:language',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getExample',
        tags: ['System'],
        summary: 'Get an example',
        security: access.none,
        params: Type.Object({ language: Type.String({ examples: EXAMPLE_LANGUAGES }) }),
        response: { 200: EXAMPLE, ...NOT_MODIFIED, ...errors('language_not_found') },
      },
    },
    async (request, reply) => {
      const example = code.get(request.params.language);
      if (!example) throw new ApiError('language_not_found');
      reply.type(`${example.mediaType}; charset=utf-8`).header('cache-control', 'public, max-age=3600');
      return sendPublicText(request, reply, example.text);
    },
  );
}

const { description, content } = textAnswer('The code; for `mcp-config`, JSON.', 'text/plain');
const EXAMPLE = {
  description,
  content: { ...content, ...jsonAnswer('', Type.Object({}, { additionalProperties: true })).content },
};
