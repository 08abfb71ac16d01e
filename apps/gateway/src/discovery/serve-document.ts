import type { TSchema } from '@sinclair/typebox';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED, textAnswer } from '../http/answers.ts';
import { markdownHeaders } from '../http/markdown.ts';
import { sendPublicText } from '../http/send-tagged.ts';
import type { TAGS } from '../http/tags.ts';

export interface ServedDocument {
  path: string;
  operationId: string;
  tag: (typeof TAGS)[number]['name'];
  summary: string;
  description?: string;
  /** Including parameters; `charset` is added to text types. */
  mediaType: string;
  /** The shape of a JSON document. */
  shape?: TSchema;
  headers?: Record<string, string>;
  /** Computed at the first request, when all routes are registered, and then cached. */
  body: () => string;
}

const HOUR = 'public, max-age=3600';

/** GET and HEAD of a public document that changes only with a deployment, with ETag and cache headers. */
export function serveDocument(app: FastifyInstance, document: ServedDocument): void {
  const { path, operationId, tag, summary, description, mediaType } = document;
  const [bareType = mediaType] = mediaType.split(';');
  let kept: string | undefined;
  app.get(
    path,
    {
      config: { operation: 'read' },
      schema: {
        operationId,
        tags: [tag],
        summary,
        ...(description !== undefined && { description }),
        security: access.none,
        response: { 200: answerOf(bareType, document.shape), ...NOT_MODIFIED, ...errors() },
      },
    },
    async (request, reply) => {
      kept ??= document.body();
      reply
        .type(withCharset(mediaType))
        .header('cache-control', HOUR)
        .headers(document.headers ?? {});
      if (bareType === 'text/markdown') reply.headers(markdownHeaders(kept));
      return sendPublicText(request, reply, kept);
    },
  );
}

const answerOf = (mediaType: string, shape: TSchema = Type.Object({}, { additionalProperties: true })) =>
  /[/+]json$/.test(mediaType) ? jsonAnswer('The document.', shape, mediaType) : textAnswer('The document.', mediaType);

const withCharset = (mediaType: string): string =>
  /^(text\/|application\/(json|xml)$)/.test(mediaType) ? `${mediaType}; charset=utf-8` : mediaType;
