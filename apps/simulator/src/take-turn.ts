import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { cutShort, maxTokensOf, say, spokenTokens, usageOf } from './answer.ts';
import type { SimulatorParts } from './app.ts';
import { type ContentFailure, type Failure, isWireFailure } from './behaviour.ts';
import type { CallOutcome, LoggedCall } from './call-log.ts';
import { type ChatRequest, channelOf } from './chat.ts';
import { asDocument, asStream } from './completion.ts';
import { ProviderApiError, providerErrorBody } from './errors.ts';
import { type Exchange, Gone } from './exchanges.ts';
import { latencyMs } from './latency.ts';
import { type Paper, type PrintedOption, readPaper } from './read-prompt.ts';
import type { SimulatedModel } from './traits.ts';
import { NoRecording, vote } from './vote.ts';
import { transmit, turnAway, turnsAway } from './wire.ts';

// One call from start to end: script, wait, vote, answer. Whatever happens, the call ends in the log with an outcome.

const DIGEST_CHARS = 16;
const ONLY_ITS_USAGE_IS_WRONG: ReadonlySet<ContentFailure> = new Set(['missing_usage', 'usage_times']);

export interface Turn {
  body: ChatRequest;
  authorization: string | undefined;
  reply: FastifyReply;
  model: SimulatedModel;
  call: LoggedCall;
}

export async function takeTurn(world: SimulatorParts, turn: Turn): Promise<void> {
  const { model, call, reply } = turn;
  const failure = world.player.next(model.script, world.settings.seed, model.id, call.poll);
  call.scripted = failure?.kind ?? null;
  const exchange = world.exchanges.open(reply);
  let outcome: CallOutcome = 'rejected';
  try {
    outcome = await perform(world, turn, failure, exchange);
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
    outcome = 'gone';
    call.cost_usd ??= costOf(world, turn, failure);
    reply.hijack();
    reply.raw.destroy();
  } finally {
    exchange.end();
    world.calls.end(call, outcome);
  }
}

async function perform(
  world: SimulatorParts,
  turn: Turn,
  failure: Failure | null,
  exchange: Exchange,
): Promise<CallOutcome> {
  const { reply, model, call } = turn;
  if (failure !== null && turnsAway(failure)) {
    await turnAway(reply, exchange, failure);
    return failure.kind;
  }
  const { seed, latencyScale } = world.settings;
  const latency = latencyMs(seed, model.id, model.latency, world.latencyTurns.next(model.id));
  await exchange.pause(Math.round(latency * latencyScale));
  if (failure?.kind === 'leak') return leak(turn, failure.status ?? 500);
  const { said, usage } = compose(world, turn, failure);
  call.cost_usd = usage.cost;
  const { body } = turn;
  const completion = { model: model.id, said, usage: silentOn(body, failure) ? null : usage };
  await transmit(reply, exchange, (body.stream === true ? asStream : asDocument)(completion), failure);
  return failure?.kind ?? (call.label === null ? 'no_vote' : 'vote');
}

/** Plays a provider that leaks its credentials. */
async function leak({ reply, authorization, body }: Turn, status: number): Promise<CallOutcome> {
  const echo = `upstream refused ${authorization} asking ${JSON.stringify(body.messages)}`;
  await reply.code(status).send(providerErrorBody(status, echo, 'simulated'));
  return 'leak';
}

/** The cost of a call. Providers continue, and charge, after the caller has disconnected. */
function costOf(world: SimulatorParts, turn: Turn, failure: Failure | null): number | null {
  if (failure !== null && turnsAway(failure)) return null;
  const { cost } = compose(world, turn, failure).usage;
  turn.call.label = null;
  turn.call.option_digest = null;
  return cost;
}

function compose(world: SimulatorParts, { body, model, call }: Turn, failure: Failure | null) {
  const channel = channelOf(body);
  const paper = readPaper(body, channel);
  const bent = bentBy(failure);
  const choice = paper === null ? null : choiceFor(world, paper, model);
  call.label = choice?.label ?? null;
  let said = say(channel, paper, call.label, bent, model.rationale);
  const limit = maxTokensOf(body);
  if (bent === 'length') said = cutShort(said, 3);
  else if (spokenTokens(said) > limit) said = cutShort(said, limit * 4);
  const isSaid = said.finish !== 'length' && (bent === null || ONLY_ITS_USAGE_IS_WRONG.has(bent));
  call.option_digest = choice && isSaid ? digestOf(choice.text) : null;
  return { said, usage: usageOf(body, said, model, bent === 'usage_times' ? (failure?.factor ?? 10) : 1) };
}

const digestOf = (text: string): string => hash('sha256', text, 'base64url').slice(0, DIGEST_CHARS);

const bentBy = (failure: Failure | null) => (failure === null || isWireFailure(failure.kind) ? null : failure.kind);

const silentOn = (body: ChatRequest, failure: Failure | null): boolean =>
  bentBy(failure) === 'missing_usage' || (body.stream === true && body.stream_options?.include_usage !== true);

function choiceFor({ settings }: SimulatorParts, paper: Paper, model: SimulatedModel): PrintedOption | null {
  try {
    return vote(paper, model, settings.seed, settings.recordedVotes, settings.knownAnswers);
  } catch (error) {
    if (error instanceof NoRecording) throw new ProviderApiError(400, error.message, 'no_recording');
    throw error;
  }
}
