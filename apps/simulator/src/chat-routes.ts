import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { App, SimulatorParts } from './app.ts';
import type { Traced } from './call-log.ts';
import { CATALOGUE } from './catalogue.ts';
import { ChatRequest } from './chat.ts';
import { ProviderApiError } from './errors.ts';
import { takeTurn } from './take-turn.ts';

/** OpenAI's chat completions, answered by simulated models. */
export function chatRoutes(app: App, world: SimulatorParts): void {
  const { settings, calls, exchanges } = world;

  app.post('/v1/chat/completions', { schema: { body: ChatRequest } }, async (request, reply) => {
    authorise(request, settings.requiredKey);
    const { body } = request;
    const model = settings.model(body.model);
    const call = calls.begin(traceOf(request, body.model));
    if (model === null) {
      calls.end(call, 'rejected');
      throw new ProviderApiError(404, `The model \`${body.model}\` does not exist`, 'model_not_found');
    }
    if (exchanges.size >= world.maxInFlight) {
      calls.end(call, 'rejected');
      throw new ProviderApiError(503, 'The simulator has too many calls in flight', 'overloaded');
    }
    await takeTurn(world, { body, authorization: request.headers.authorization, reply, model, call });
    return reply;
  });

  app.get('/v1/models', async (request) => {
    authorise(request, settings.requiredKey);
    const ids = new Set([...CATALOGUE, ...settings.namedModels()]);
    const served = [...ids].filter((id) => settings.model(id) !== null);
    return { object: 'list', data: served.map((id) => ({ id, object: 'model', created: 0, owned_by: 'simulator' })) };
  });
}

function authorise({ headers }: FastifyRequest, requiredKey: string | null): void {
  if (requiredKey === null) return;
  const sent = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(digest(sent), digest(requiredKey)))
    throw new ProviderApiError(401, 'Incorrect API key provided', 'invalid_api_key');
}

const digest = (text: string) => createHash('sha256').update(text).digest();

function traceOf({ headers }: FastifyRequest, model: string): Traced {
  const text = (name: string) => {
    const value = headers[name];
    return typeof value === 'string' ? value.slice(0, 100) : null;
  };
  const number = (name: string) => {
    const value = Number.parseInt(text(name) ?? '', 10);
    return Number.isNaN(value) ? null : value;
  };
  return {
    poll: text('x-poll-id'),
    seat: number('x-seat'),
    model,
    attempt: number('x-attempt'),
    asked_at: number('x-asked-at'),
  };
}
