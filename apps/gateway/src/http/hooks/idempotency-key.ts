import { type TObject, Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { invalid } from '../api-error.ts';

// Reads Idempotency-Key and repeats it in the answer, or refuses it; submitPoll acts on it. A key in double quotes, as
// in draft-ietf-httpapi-idempotency-key-header-07, equals the same key without quotes, as most clients send it.

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `true`: a retry with the same Idempotency-Key gets the first result. `by nature`: a retry does no harm, so keys
     * are only read and repeated. A POST without either refuses the header.
     */
    idempotent?: true | 'by nature';
  }
  interface FastifyRequest {
    idempotencyKey: string | null;
  }
}

/** `kept` says how long a key is remembered. */
export const keyHeader = (kept: string) => ({
  'idempotency-key': Type.Optional(
    Type.String({
      description: `A retry of the same request with the same key, ${kept}, returns the first result instead of creating a second one. Keys are not shared between operations: the key of a POST /api/poll starts a new poll at POST /api/poll/stream. 1 to 255 visible ASCII characters, with or without double quotes.`,
    }),
  ),
});
const USUAL = keyHeader('within 24 hours');
/** A route's own header schema may say how long it remembers keys. */
const keyHeaderOf = (own: TObject | undefined) => (own && 'idempotency-key' in own.properties ? {} : USUAL);

export const idempotencyKeys = plugin(async (app: FastifyInstance) => {
  app.decorateRequest('idempotencyKey', null);
  app.addHook('onRoute', (route) => {
    if (!route.config?.idempotent) {
      if (route.method === 'POST') route.onRequest = [...[route.onRequest ?? []].flat(), refuseKey];
      return;
    }
    const others = route.schema?.headers as TObject | undefined;
    if (route.config.idempotent === true)
      route.schema = { ...route.schema, headers: Type.Object({ ...others?.properties, ...keyHeaderOf(others) }) };
    const read = async (request: FastifyRequest, reply: FastifyReply) => {
      const given = request.headers['idempotency-key'];
      if (given === undefined) return;
      request.idempotencyKey = keyOf(String(given));
      if (request.idempotencyKey === null) throw invalid([{ pointer: '#/Idempotency-Key', detail: WRONG }]);
      reply.header('idempotency-key', String(given));
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), read];
  });
});

/** A caller who sends a key relies on it. If the operation cannot honour it, the request is refused before it acts. */
async function refuseKey({ headers, method, routeOptions }: FastifyRequest): Promise<void> {
  if (headers['idempotency-key'] === undefined) return;
  const detail = `Idempotency-Key is not supported by ${method} ${routeOptions.url}; send the request without it`;
  throw invalid([{ pointer: '#/Idempotency-Key', detail }]);
}

/** Marks an answer that an earlier request with the same key has produced. */
export const markReplayed = (reply: FastifyReply): FastifyReply => reply.header('idempotent-replayed', 'true');

const WRONG = 'Idempotency-Key must be 1 to 255 visible ASCII characters, with or without double quotes';

/** Null for an invalid key, for example two headers, which arrive joined by a space. */
export function keyOf(header: string): string | null {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header);
  const key = quoted ? quoted[1]!.replace(/\\(.)/g, '$1') : header.startsWith('"') ? '' : header;
  return /^[\x21-\x7e]{1,255}$/.test(key) ? key : null;
}
