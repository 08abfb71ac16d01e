import { type TObject, Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import { invalid } from '../api-error.ts';

// Reads the Idempotency-Key of operations that cost or create something, and repeats it on their answers. The draft
// (draft-ietf-httpapi-idempotency-key-header-07) writes it in double quotes, most clients send it bare: both are the
// same key. What the key does is decided where the work is accepted.

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

/** On an answer that an earlier request with the same key had got. */
export const markReplayed = (reply: FastifyReply): FastifyReply => reply.header('idempotent-replayed', 'true');

const WRONG = 'Idempotency-Key must be 1 to 255 visible ASCII characters, bare or in double quotes';

/** null for what is no key. Two headers arrive as one with a space in it, which no key has. */
export function keyOf(header: string): string | null {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header);
  const key = quoted ? quoted[1]!.replace(/\\(.)/g, '$1') : header.startsWith('"') ? '' : header;
  return /^[\x21-\x7e]{1,255}$/.test(key) ? key : null;
}
