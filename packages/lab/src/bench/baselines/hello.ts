import type { AddressInfo } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { Type } from '@sinclair/typebox';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';

// The minimum work of a service built like ours: H answers a constant through a TypeBox schema, G reads one key from
// Redis first, A0 validates the body of a poll and answers without doing anything.

const app = fastify({ logger: false }).withTypeProvider<TypeBoxTypeProvider>();
const Hello = Type.Object({ session_id: Type.String(), status: Type.String(), result_id: Type.String() });
const answer = {
  session_id: 'ps_0123456789abcdefghjkmnpq',
  status: 'completed',
  result_id: 'EP-2026-01-01-0123456789abcdef',
};

app.get('/h', { schema: { response: { 200: Hello } } }, async () => answer);

const redis = new Redis(process.env.REDIS_URL!, { lazyConnect: true });
const key = `${process.env.REDIS_PREFIX}:bench:hello`;
await redis.connect();
await redis.set(key, answer.result_id);
app.get('/g', { schema: { response: { 200: Hello } } }, async () => ({
  ...answer,
  result_id: (await redis.get(key)) ?? '',
}));

const Order = Type.Object({
  question: Type.String({ minLength: 3, maxLength: 5_000 }),
  options: Type.Array(Type.String({ minLength: 1, maxLength: 500 }), { minItems: 2, maxItems: 10, uniqueItems: true }),
  preset: Type.Optional(Type.Union([Type.Literal('broad'), Type.Literal('fast'), Type.Literal('strong')])),
  confidence_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
});
app.post('/a0', { schema: { body: Order, response: { 202: Hello } } }, async (_request, reply) =>
  reply.code(202).send(answer),
);

await app.listen({ host: '127.0.0.1', port: 0 });
process.once('SIGTERM', () => process.exit(0));
console.log(JSON.stringify({ msg: 'ready', port: (app.server.address() as AddressInfo).port }));
