import { randomBytes } from 'node:crypto';
import { readJson } from '@eloquentpoll/services/json';
import { base64, sign, v1, v2 } from '@eloquentpoll/testkit/fakes/payer';
import { Type } from '@sinclair/typebox';
import { Wallet } from 'ethers';
import type { Draws } from './draws.ts';
import type { AccountHolder } from './people.ts';
import type { Preparing } from './prepare-request.ts';
import { type Named, otherThan, THING_KINDS, type ThingKind } from './remembered.ts';
import type { FuzzStep } from './step.ts';

export interface NamedThing {
  readonly kind: ThingKind;
  readonly value: string;
  readonly named: Named;
  readonly inPath: boolean;
}

const PLACE = /\{\{([\w-]+)\}\}/g;

/** Placeholder names for the fixed account that stand for another kind here. */
const SAME_AS: Readonly<Record<string, string>> = {
  'running-session': 'session',
  'failed-session': 'session',
  'failed-result': 'result',
};

const PURPOSES: Readonly<Record<string, string>> = {
  verifyWallet: 'login',
  revokeKeyByWallet: 'revoke',
  rotateKeysByWallet: 'rotate',
  deleteAccountByWallet: 'delete',
};
const PAID_USD = 5;

const Challenge = Type.Object({ message: Type.String() });

/** Fills the placeholders of one request with what the sequence knows. */
export class Filling {
  readonly names: NamedThing[] = [];
  /** The cookie that belongs to a filled value: the state of a login. */
  cookie: string | null = null;
  readonly #parts: Preparing;
  readonly #step: FuzzStep;
  readonly #draws: Draws;
  readonly #person: AccountHolder | null;
  #proof: { message: string; signature: string } | null = null;

  constructor(parts: Preparing, step: FuzzStep, draws: Draws) {
    this.#parts = parts;
    this.#step = step;
    this.#draws = draws;
    this.#person = step.actor === 'n' ? null : parts.people[step.actor];
  }

  async fill(text: string, isTarget = false): Promise<string> {
    if (!text.includes('{{')) return text;
    const path = isTarget ? text.split('?', 1)[0]!.length : 0;
    let filled = '';
    let from = 0;
    for (const { 0: place, 1: name = '', index } of text.matchAll(PLACE)) {
      const value = await this.#valueOf(name, index < path);
      filled += text.slice(from, index) + (isTarget && name !== 'login-code' ? encodeURIComponent(value) : value);
      from = index + place.length;
    }
    return filled + text.slice(from);
  }

  async #valueOf(name: string, inPath: boolean): Promise<string> {
    const { people, receiver, service, remembered } = this.#parts;
    const foreign = name.startsWith('foreign-');
    const plain = foreign ? name.slice('foreign-'.length) : name;
    const kind = THING_KINDS.find((known) => known === (SAME_AS[plain] ?? plain));
    if (kind) return this.#thing(kind, foreign, inPath);
    const person = foreign && this.#person ? people[otherThan(this.#person.party)] : this.#person;
    switch (plain) {
      case 'mark':
        return person?.mark ?? 'zqn';
      case 'account':
        return person?.accountId ?? '00000000-0000-4000-8000-000000000000';
      case 'receiver':
        return `${receiver}/${person?.mark ?? 'zqn'}`;
      case 'base':
        return service.gateway.config.baseUrl;
      case 'address':
        return (await this.#wallet(person)).address;
      case 'message':
        return JSON.stringify((await this.#signed(person)).message).slice(1, -1);
      case 'signature':
        return (await this.#signed(person)).signature;
      case 'payment':
      case 'payment-v2':
        return this.#payment(person, plain === 'payment' ? v1 : v2);
      case 'tag':
        return remembered.tags.get(this.#step.operation) ?? '';
      case 'login-code':
        return this.#login();
      case 'stripe-event':
        return this.#stripeEvent();
      default:
        return `{{${name}}}`;
    }
  }

  #thing(kind: ThingKind, foreign: boolean, inPath: boolean): string {
    const { actor, manner } = this.#step;
    const found = this.#parts.remembered.choose(kind, actor, foreign ? 'foreign' : manner, this.#draws);
    this.names.push({ kind, inPath, ...found });
    return found.value;
  }

  async #wallet(person: AccountHolder | null): Promise<Wallet> {
    if (person) return this.#parts.people.walletOf(person);
    return new Wallet(`0x${randomBytes(32).toString('hex')}`);
  }

  /** A signature is valid once; for the manner `ended`, the previous one is used. */
  async #signed(person: AccountHolder | null): Promise<{ message: string; signature: string }> {
    const { operation, manner } = this.#step;
    if (this.#proof) return this.#proof;
    const before = person?.proofs.get(operation);
    if (manner === 'ended' && before) return before;
    const wallet = await this.#wallet(person);
    const purpose = PURPOSES[operation] ?? 'login';
    const target = `/api/wallet/challenge?address=${wallet.address}&purpose=${purpose}`;
    const { message } = readJson(Challenge, await this.#parts.ask({ method: 'GET', target, headers: {}, body: null }));
    this.#proof = { message, signature: await wallet.signMessage(message) };
    person?.proofs.set(operation, this.#proof);
    return this.#proof;
  }

  async #payment(person: AccountHolder | null, version: typeof v1 | typeof v2): Promise<string> {
    const signed = await sign(await this.#wallet(person), PAID_USD);
    if (person) person.creditedU += PAID_USD * 1_000_000;
    return base64(version(signed));
  }

  /** The `state` of a login attempt consists of its query and its cookie. */
  #login(): string {
    const [query = 'x', cookie = ''] = this.#thing('state', false, false).split(' ');
    if (cookie !== '') this.cookie = cookie;
    return query;
  }

  #stripeEvent(): string {
    const { service, remembered, people } = this.#parts;
    const { stripe } = service;
    const draws = this.#draws;
    const checkouts = remembered.things.filter(({ kind }) => kind === 'checkout');
    const chosen = checkouts.length === 0 ? null : draws.of(checkouts);
    const session = chosen && stripe.sessions.get(chosen.value);
    if (!chosen || !session)
      return JSON.stringify({ id: 'evt_1', object: 'event', type: 'charge.refunded', data: { object: {} } });
    if (chosen.owner !== 'n' && !remembered.paid.has(chosen.value)) {
      remembered.paid.add(chosen.value);
      people[chosen.owner].creditedU += session.amount_total * 10_000;
      chosen.standing = 'unsure';
    }
    const isPaid = session.payment_intent !== null;
    const acts = [
      () => stripe.complete(session),
      () => stripe.complete(session, { paid: false }),
      ...(isPaid
        ? [
            () => stripe.confirm(session),
            () => stripe.refund(session, 1 + draws.below(session.amount_total)),
            () => stripe.dispute(session, session.amount_total),
            () => stripe.closeDispute(session, draws.of(['won', 'lost'])),
          ]
        : [() => stripe.expire(session)]),
    ];
    return JSON.stringify(draws.of(acts)());
  }
}
