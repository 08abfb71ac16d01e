import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cutShort, say, spokenTokens, usageOf } from './answer.ts';
import type { App, World } from './app.ts';
import { type Failure, isWireFailure } from './behaviour.ts';
import type { Call, Outcome } from './call-log.ts';
import { CATALOGUE } from './catalogue.ts';
import { type ChatRequest, ChatRequest as ChatRequestSchema, channelOf } from './chat.ts';
import { asDocument, asStream, type Payload } from './completion.ts';
import { ApiError, errorBody } from './errors.ts';
import { type Exchange, Gone } from './exchanges.ts';
import { readPaper } from './paper.ts';
import { draws, normal } from './seeded.ts';
import type { Model } from './traits.ts';
import { NoRecording, vote } from './vote.ts';
import { transmit, turnAway, turnsAway } from './wire.ts';

/** OpenAI's chat completions, answered by simulated models. */
export function chatRoutes(app: App, world: World): void {
  app.post('/v1/chat/completions', { schema: { body: ChatRequestSchema } }, async (request, reply) => {
    authorise(request, world);
    const model = world.settings.model(request.body.model);
    const call = world.calls.begin(traceOf(request, request.body.model));
    if (model === null) {
      world.calls.end(call, 'rejected');
      throw new ApiError(404, `The model \`${request.body.model}\` does not exist`, 'model_not_found');
    }
    if (world.exchanges.size >= world.maxInFlight) {
      world.calls.end(call, 'rejected');
      throw new ApiError(503, 'The simulator has too many calls in flight', 'overloaded');
    }
    await answer(world, request, request.body, reply, model, call);
    return reply;
  });

  app.get('/v1/models', async (request) => {
    authorise(request, world);
    const ids = new Set([...CATALOGUE, ...world.settings.namedModels()]);
    const served = [...ids].filter((id) => world.settings.model(id) !== null);
    return { object: 'list', data: served.map((id) => ({ id, object: 'model', created: 0, owned_by: 'simulator' })) };
  });
}

function authorise(request: FastifyRequest, { settings }: World): void {
  if (settings.requiredKey === null) return;
  const sent = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(digest(sent), digest(settings.requiredKey)))
    throw new ApiError(401, 'Incorrect API key provided', 'invalid_api_key');
}

const digest = (text: string) => createHash('sha256').update(text).digest();

function traceOf({ headers }: FastifyRequest, model: string): Pick<Call, 'poll' | 'seat' | 'model' | 'attempt'> {
  const text = (value: string | string[] | undefined) => (typeof value === 'string' ? value.slice(0, 100) : null);
  const number = (value: string | string[] | undefined) => {
    const parsed = Number.parseInt(text(value) ?? '', 10);
    return Number.isNaN(parsed) ? null : parsed;
  };
  return {
    poll: text(headers['x-poll-id']),
    seat: number(headers['x-seat']),
    model,
    attempt: number(headers['x-attempt']),
  };
}

async function answer(
  world: World,
  request: FastifyRequest,
  body: ChatRequest,
  reply: FastifyReply,
  model: Model,
  call: Call,
): Promise<void> {
  const failure = world.player.next(model.script, world.settings.seed, model.id, call.poll);
  call.scripted = failure?.kind ?? null;
  const exchange = world.exchanges.open(reply);
  let outcome: Outcome = 'rejected';
  try {
    outcome = await perform(world, request, body, reply, model, call, failure, exchange);
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
    outcome = 'gone';
    reply.hijack();
    reply.raw.destroy();
  } finally {
    exchange.end();
    world.calls.end(call, outcome);
  }
}

async function perform(
  world: World,
  request: FastifyRequest,
  body: ChatRequest,
  reply: FastifyReply,
  model: Model,
  call: Call,
  failure: Failure | null,
  exchange: Exchange,
): Promise<Outcome> {
  if (failure !== null && turnsAway(failure)) {
    await turnAway(reply, exchange, failure);
    return failure.kind;
  }
  await exchange.pause(latencyOf(world, model));
  if (failure?.kind === 'leak') {
    const echo = `upstream said no to ${request.headers.authorization} asking ${JSON.stringify(body.messages)}`;
    await reply.code(failure.status ?? 500).send(errorBody(failure.status ?? 500, echo, 'simulated'));
    return 'leak';
  }
  const payload = compose(world, body, model, call, failure);
  await transmit(reply, exchange, payload, failure);
  return failure?.kind ?? (call.label === null ? 'no_ballot' : 'vote');
}

function compose(world: World, body: ChatRequest, model: Model, call: Call, failure: Failure | null): Payload {
  const channel = channelOf(body);
  const paper = readPaper(body, channel);
  const bent = failure === null || isWireFailure(failure.kind) ? null : failure.kind;
  call.label = paper === null ? null : (voteOrRefuse(world, paper, model)?.label ?? null);
  let said = say(channel, paper, call.label, bent);
  const limit = body.max_completion_tokens ?? body.max_tokens ?? Number.POSITIVE_INFINITY;
  if (bent === 'length') said = cutShort(said, 3);
  else if (spokenTokens(said) > limit) said = cutShort(said, limit * 4);
  const factor = bent === 'usage_times' ? (failure?.factor ?? 10) : 1;
  const usage = bent === 'missing_usage' ? null : usageOf(body, said, model, factor);
  const streamed = body.stream === true;
  const shown = streamed && body.stream_options?.include_usage !== true ? null : usage;
  return (streamed ? asStream : asDocument)({ model: model.id, said, usage: shown });
}

function voteOrRefuse({ settings }: World, paper: Parameters<typeof vote>[0], model: Model) {
  try {
    return vote(paper, model, settings.seed, settings.recordedVotes);
  } catch (error) {
    if (error instanceof NoRecording) throw new ApiError(400, error.message, 'no_recording');
    throw error;
  }
}

/** The n-th call of a model always takes the same time: log-normal, now and then a straggler. */
function latencyOf({ settings, latencyTurns }: World, { id, latency }: Model): number {
  const draw = draws(settings.seed, 'latency', id, latencyTurns.next(id));
  const straggling = draw() < latency.straggler_rate ? latency.straggler_factor : 1;
  return Math.round(settings.latencyScale * latency.p50_ms * Math.exp(latency.sigma * normal(draw)) * straggling);
}
