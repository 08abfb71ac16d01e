import fc, { type Arbitrary } from 'fast-check';
import type { FuzzedService } from '../fuzzed-service.ts';
import type { FuzzedOperation } from '../operations.ts';
import { type FuzzRequest, requestsTo } from '../requests.ts';
import type { Sent } from '../send-request.ts';
import { stripeSignature } from '../stripe-signature.ts';
import { type Credentials, credentialsFor } from './choose-credential.ts';
import { type Draws, drawsOf } from './draws.ts';
import { Filling, type NamedThing } from './fill-places.ts';
import { type Around, GoodRequests, type Template } from './good-requests.ts';
import type { People } from './people.ts';
import type { Remembered } from './remembered.ts';
import type { Actor, FuzzStep, Manner } from './step.ts';

// Turns a step into a request, with what the rules need to know about it.

export interface Prepared {
  readonly operation: FuzzedOperation;
  readonly actor: Actor;
  readonly manner: Manner;
  readonly sent: Sent;
  readonly names: readonly NamedThing[];
  readonly credentials: Credentials;
}

export interface Preparing {
  readonly service: FuzzedService;
  readonly people: People;
  readonly remembered: Remembered;
  readonly receiver: string;
  /** Sends a request that a step requires first, such as one for a challenge. */
  ask(sent: Sent): Promise<string>;
}

export class Requests {
  readonly #good: GoodRequests;
  readonly #wild = new Map<string, Arbitrary<FuzzRequest>>();
  readonly #around: Around;
  constructor(around: Around) {
    this.#around = around;
    this.#good = new GoodRequests(around);
  }

  async prepare(step: FuzzStep, operation: FuzzedOperation, parts: Preparing): Promise<Prepared> {
    const draws = drawsOf(step.seed);
    const wild = step.manner === 'wild' ? this.#wildTo(operation, draws) : null;
    const template: Template = wild ?? this.#good.to(operation, draws, step.manner === 'hostile');
    const credentials = await credentialsFor({
      step,
      operation,
      draws,
      people: parts.people,
      wild: wild?.credential ?? null,
    });
    const filling = new Filling(parts, step, draws);
    const target = await filling.fill(template.target, true);
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries({ ...template.headers, ...credentials.headers }))
      headers[name] = await filling.fill(value);
    const { body } = template;
    const bytes = body?.includes('{{') ? Buffer.from(await filling.fill(body.toString('latin1')), 'latin1') : body;
    if (headers['if-none-match'] === '') delete headers['if-none-match'];
    if (filling.cookie !== null) headers.cookie = filling.cookie;
    if (headers['stripe-signature'] === '{{signed}}')
      headers['stripe-signature'] = stripeSignature(parts.service, bytes);
    const { actor, manner } = step;
    const sent = { method: wild?.method ?? operation.method, target, headers, body: bytes };
    return { operation, actor, manner, sent, names: filling.names, credentials };
  }

  #wildTo(operation: FuzzedOperation, draws: Draws): FuzzRequest {
    const known = this.#wild.get(operation.id) ?? requestsTo(operation, this.#around);
    this.#wild.set(operation.id, known);
    return fc.sample(known, { seed: draws.below(2 ** 31), numRuns: 1 })[0]!;
  }
}
