import fc, { type Arbitrary } from 'fast-check';
import { goodBodies, type ServedDescription } from '../draw-body.ts';
import { goodValues } from '../good-values.ts';
import type { FuzzedOperation, Parameter } from '../operations.ts';
import { type Adaptation, adapted } from './adapt-body.ts';
import type { Draws } from './draws.ts';
import { encodedForm, FORMS, GRANT, MULTIPART, multipart, VERIFIER } from './forms.ts';
import { HOSTILE_TEXTS } from './hostile-answers.ts';

// A correct request for an operation, with `{{...}}` for what the sequence knows: ids, cursors, signatures, payments.

export interface Template {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export interface Around extends ServedDescription {
  readonly models: readonly string[];
}

const PATH: Readonly<Record<string, readonly string[]>> = {
  id: ['{{session}}'],
  resultId: ['{{result}}'],
  pollId: ['{{result}}'],
  keyId: ['{{key-id}}'],
  batchId: ['{{batch}}'],
  endpointId: ['{{endpoint}}', '{{endpoint}}', '{{endpoint}}', '{{endpoint}}', 'account'],
  deliveryId: ['{{delivery}}'],
  code: ['rate_limited', 'not_found', 'insufficient_balance', 'other'],
  model: ['eloquentpoll%2Fbroad', 'eloquentpoll%2Ffree', 'x'],
};

const QUERY: Readonly<Record<string, readonly string[]>> = {
  ids: ['{{session}}', '{{session}},{{session}}', '{{session}},{{foreign-session}}'],
  id: ['{{session}}', '{{session}}', '{{foreign-session}}'],
  after: ['{{cursor}}', '{{session}}', '{{batch}}', '{{foreign-cursor}}'],
  before: ['{{cursor}}', '{{session}}', '{{batch}}'],
  cursor: ['{{cursor}}', '{{foreign-cursor}}'],
  key_id: ['{{key-id}}', '{{foreign-key-id}}'],
  key: ['{{key-id}}', '{{foreign-key-id}}'],
  metadata: ['team:{{mark}}', 'team={{mark}}', '{"team":"{{mark}}"}'],
  label: ['team={{mark}}', 'team:{{mark}}'],
  address: ['{{address}}'],
  confirm: ['{{account}}', '{{account}}', '{{foreign-account}}'],
  give_up_balance: ['true', 'true', 'false'],
  code: ['{{login-code}}'],
  next: ['/dashboard', 'https://xq7.example/', '//xq7.example'],
  form: ['11111111-2222-4333-8444-555555555555', 'x'],
  limit: ['1', '3', '100', '20'],
  format: ['csv', 'json', 'jsonl'],
  q: ['best', '{{mark}}', '<xq7>'],
  ...Object.fromEntries(Object.entries(GRANT).map(([name, value]) => [name, [value, value, value, '<xq7>']])),
};

const HEADERS: Readonly<Record<string, readonly string[]>> = {
  accept: [
    'application/json',
    'application/problem+json',
    'text/event-stream',
    'text/html',
    'text/markdown',
    'text/csv',
    '*/*',
  ],
  prefer: ['wait=1', 'wait=5', 'wait=0', 'respond-async'],
};

const JSONL = ['application/jsonl', 'application/x-ndjson'];

export class GoodRequests {
  readonly #bodies = new Map<string, Arbitrary<unknown>>();
  readonly #around: Around;
  constructor(around: Around) {
    this.#around = around;
  }

  to(operation: FuzzedOperation, draws: Draws, isHostile: boolean): Template {
    const adaptation = { models: this.#around.models, isHostile, draws };
    const body = this.#bodyOf(operation, adaptation);
    return {
      target: pathOf(operation, draws) + this.#queryOf(operation, draws, body?.type),
      headers: { ...headersFor(operation, draws), ...(body && { 'content-type': body.type }) },
      body: body?.bytes ?? null,
    };
  }

  #queryOf({ parameters, id }: FuzzedOperation, draws: Draws, bodyType: string | undefined): string {
    // With a JSON body, these parameters of a batch are members of the body.
    if (id === 'createBatch' && bodyType === 'application/json') return '';
    const pairs = parameters
      .filter((parameter) => parameter.in === 'query' && (parameter.required === true || draws.oneIn(4)))
      .map((parameter) => `${parameter.name}=${this.#queryValue(parameter, draws)}`);
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  }

  #queryValue({ name, schema }: Parameter, draws: Draws): string {
    const known = name in QUERY && !('enum' in schema) && !draws.oneIn(10) ? draws.of(QUERY[name]!) : null;
    const value =
      known ??
      String(
        this.#sample(`q:${name}:${JSON.stringify(schema)}`, draws, () => goodValues(schema, this.#around.description)),
      );
    return encodeURIComponent(value.toWellFormed()).replace(/%7B%7B(.*?)%7D%7D/g, '{{$1}}');
  }

  #bodyOf(operation: FuzzedOperation, adaptation: Adaptation): { type: string; bytes: Buffer } | null {
    const { id, method, bodies } = operation;
    const { draws } = adaptation;
    if (id === 'receiveStripeEvent') return { type: 'application/json', bytes: Buffer.from('{{stripe-event}}') };
    if (id === 'sendBatch' || id === 'checkBatchForm') return this.#upload(MULTIPART, adaptation);
    const form = FORMS[id];
    if (form) {
      const fields = this.#sample(`f:${id}`, draws, () => form) as readonly (readonly [string, string])[];
      const worded = fields.map(([name, value]) => {
        const free =
          ['label', 'description', 'question', 'option'].includes(name) && adaptation.isHostile && draws.oneIn(2);
        const mark = ['label', 'description'].includes(name) ? '{{mark}}' : '';
        return [name, (free ? draws.of(HOSTILE_TEXTS).slice(0, 40) : value.slice(0, 50)) + mark] as const;
      });
      return { type: 'application/x-www-form-urlencoded', bytes: encodedForm(worded) };
    }
    if (id === 'redeemGrant') return json({ code: '{{grant}}', verifier: VERIFIER });
    const types = Object.keys(bodies);
    if (types.length === 0)
      return method === 'POST' && /^\/(dashboard|result|playground)/.test(operation.path)
        ? { type: 'application/x-www-form-urlencoded', bytes: Buffer.from('') }
        : null;
    const type = id === 'createBatch' ? draws.of(types) : types[0]!;
    if (type !== 'application/json') return this.#upload(type.startsWith('multipart') ? MULTIPART : type, adaptation);
    const good = this.#sample(`b:${id}`, draws, () => goodBodies(operation, this.#around));
    return json(adapted(good, adaptation));
  }

  /** Rows of a batch in one of the file formats. */
  #upload(type: string, adaptation: Adaptation): { type: string; bytes: Buffer } {
    const { draws } = adaptation;
    const rows = Array.from({ length: 1 + draws.below(3) }, (_, i) => {
      const { question, options } = this.#sample('row', draws, () =>
        goodValues({ $ref: '#/components/schemas/SessionRequest' }, this.#around.description),
      ) as { question: string; options: string[] };
      const row = { custom_id: `row-${i}`, question, options: options.slice(0, 4), gold: options[0] };
      return adapted(row, adaptation) as typeof row;
    });
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const table = [
      'custom_id,question,options',
      ...rows.map((row) => [row.custom_id, row.question, row.options.join('|')].map(cell).join()),
    ].join('\n');
    const text = type === 'text/csv' || (!JSONL.includes(type) && draws.oneIn(3)) ? table : lines;
    if (type !== MULTIPART) return { type, bytes: Buffer.from(text) };
    const name = adaptation.isHostile ? draws.of(HOSTILE_TEXTS) : 'rows.jsonl';
    const fields = [
      ['preset', 'fast'],
      ['metadata', '{"name":"{{mark}}"}'],
    ] as const;
    return {
      type,
      bytes: draws.oneIn(3)
        ? multipart([...fields, ['rows', text]], null)
        : multipart(fields, { name: `${name}{{mark}}`, text }),
    };
  }

  #sample<T>(name: string, draws: Draws, make: () => Arbitrary<T>): T {
    const known = (this.#bodies.get(name) as Arbitrary<T> | undefined) ?? make();
    this.#bodies.set(name, known);
    return fc.sample(known, { seed: draws.below(2 ** 31), numRuns: 1 })[0]!;
  }
}

const json = (value: unknown) => ({ type: 'application/json', bytes: Buffer.from(JSON.stringify(value) ?? '') });

function pathOf({ id, path, parameters }: FuzzedOperation, draws: Draws): string {
  return parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((made, { name, examples }) => {
      const named = id === 'savePanel' ? ['p-1', 'p-2', 'night-checks'] : name === 'name' ? ['{{panel}}'] : PATH[name];
      const values =
        named ??
        Object.values(examples ?? {})
          .map(({ value }) => encodeURIComponent(String(value)))
          .concat('x');
      return made.replace(`{${name}}`, () => draws.of(values));
    }, path);
}

function headersFor({ id, path, parameters }: FuzzedOperation, draws: Draws): Record<string, string> {
  const takes = (name: string) => parameters.some((parameter) => parameter.in === 'header' && parameter.name === name);
  const drawn = (name: string, many: number) => (draws.below(many) > 0 ? {} : { [name]: draws.of(HEADERS[name]!) });
  return {
    ...drawn('accept', id.startsWith('get') ? 6 : 14),
    ...(path === '/api/mcp' && { accept: 'application/json, text/event-stream' }),
    ...(id === 'streamPoll' && { accept: 'text/event-stream' }),
    ...(takes('prefer') && drawn('prefer', 2)),
    ...(takes('idempotency-key') && draws.oneIn(2) && { 'idempotency-key': `key-${draws.below(1_000_000)}` }),
    ...(takes('last-event-id') &&
      draws.oneIn(4) && {
        'last-event-id': draws.of(['{{session}}', '{{session}}:0', '{{session}}.1', '{{foreign-session}}:0']),
      }),
    ...(takes('x-payment') && draws.oneIn(2) && { 'x-payment': '{{payment}}' }),
    ...(takes('payment-signature') && draws.oneIn(4) && { 'payment-signature': '{{payment-v2}}' }),
    ...(id === 'receiveStripeEvent' && { 'stripe-signature': '{{signed}}' }),
    ...(draws.oneIn(5) && { 'if-none-match': '{{tag}}' }),
    ...(draws.oneIn(40) && { 'x-machine-client': 'true' }),
  };
}
