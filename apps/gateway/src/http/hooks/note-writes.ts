import type { FastifyInstance, FastifyRequest } from 'fastify';
import plugin from 'fastify-plugin';
import type { LaggingReads } from '../lagging-reads.ts';

// Makes an account's changes visible in its next list, even when lists are read from a replica. A write is noted before
// the answer is sent; for a stream, when it has ended.

const noted = new WeakSet<FastifyRequest>();

export const noteWrites = plugin(async (app: FastifyInstance, { lists }: { lists: LaggingReads }) => {
  if (!lists.replica) return;
  const note = (request: FastifyRequest) => {
    const { method, principal } = request;
    if (!principal || method === 'GET' || method === 'HEAD' || noted.has(request)) return;
    noted.add(request);
    lists.noteWrite(principal.accountId);
  };
  app.addHook('onSend', async (request) => note(request));
  app.addHook('onResponse', async (request) => note(request));
});
