import { type TObject, Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { invalid } from '../api-error.ts';

// Reads Idempotency-Key and repeats it on the answer; submitting acts on it. Double quotes, as
// draft-ietf-httpapi-idempotency-key-header-07 has them, and the bare form of most clients are the same key.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a retry with the same Idempotency-Key gets the first result. */
    idempotent?: boolean;
  }
  interface FastifyRequest {
    idempotencyKey: string | null;
  }
}

const HEADERS = {
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'A retry with the same key, within 24 hours and with the same request, gets the first result instead of making a second one. 1 to 255 visible ASCII characters, bare or in double quotes.',
    }),
  ),
};

export const idempotencyKeys = plugin(async (app: FastifyInstance) => {
  app.decorateRequest('idempotencyKey', null);
  app.addHook('onRoute', (route) => {
    if (!route.config?.idempotent) return;
    const others = route.schema?.headers as TObject | undefined;
    route.schema = { ...route.schema, headers: Type.Object({ ...others?.properties, ...HEADERS }) };
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

/** For an answer that an earlier request with the same key had. */
export const markReplayed = (reply: FastifyReply): FastifyReply => reply.header('idempotent-replayed', 'true');

const WRONG = 'Idempotency-Key must be 1 to 255 visible ASCII characters, bare or in double quotes';

/** Null for what is no key, such as two headers: they arrive as one with a space. */
export function keyOf(header: string): string | null {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header);
  const key = quoted ? quoted[1]!.replace(/\\(.)/g, '$1') : header.startsWith('"') ? '' : header;
  return /^[\x21-\x7e]{1,255}$/.test(key) ? key : null;
}
