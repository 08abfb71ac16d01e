import type { FastifyInstance, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { ApiError, invalid } from '../api-error.ts';
import { uncleanIn } from '../validation/text-rules.ts';

// Bodies are JSON in UTF-8, and there is one parser: no header can choose a laxer one. What gets past here is clean
// text all through, nests no deeper than allowed, and has no member that could reach a prototype; only an operation
// whose answer is about what is wrong with a body gets to see one that is not.

declare module 'fastify' {
  interface FastifyContextConfig {
    uncleanBody?: 'judged';
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

/** For operations that know JSON by another media type too. */
export async function parseJsonBody(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
  const body = parseJson(bytes);
  const issue = request.routeOptions.config.uncleanBody === 'judged' ? null : uncleanIn(body);
  if (issue) throw invalid([issue]);
  return body;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** An empty body is no body: the operation decides whether it needs one. */
function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (cause) {
    throw new ApiError('malformed_json', { detail: 'The body is not JSON in UTF-8.', cause });
  }
}
