import type { FastifyInstance, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError, invalid } from '../api-error.ts';
import { uncleanIn } from '../validation/text-rules.ts';

// One parser for JSON in UTF-8, so that no header can select a laxer one. Accepted bodies are well-formed text, nested
// no deeper than allowed, and cannot reach a prototype. Only a dry run, which lists faults, receives other bodies.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler itself reports faults in the text of a body. */
    reportsUncleanBody?: boolean;
  }
}

export const bodyParsing = plugin(async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, parseJsonBody);

  app.addHook('preValidation', (request, _reply, done) => {
    const issue = uncleanIn(request.query) ?? uncleanIn(request.params);
    if (issue) done(invalid([issue]));
    else done();
  });
});

/** For operations that also take JSON under another media type. */
export async function parseJsonBody(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
  const body = parseJson(bytes);
  const issue = request.routeOptions.config.reportsUncleanBody ? null : uncleanIn(body);
  if (issue) throw invalid([issue]);
  return body;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** An empty body counts as no body: the operation decides whether it needs one. */
function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (cause) {
    throw new ApiError('malformed_json', { detail: 'The body is not valid JSON in UTF-8.', cause });
  }
}
