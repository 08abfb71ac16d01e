import { ERRORS, type ErrorCode } from '@eloquentpoll/contracts';
import type { TSchema } from '@sinclair/typebox';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Test } from 'tap';
import type { App } from '../src/app.ts';
import { namedSchemas } from '../src/validation/validator.ts';

// Whatever a test is about, every answer on its way out has to be one that the operation declared, of the shape that it
// declared; every error has to be in the catalogue, with the catalogue's status, and show nothing of our insides.

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, schemas: [...namedSchemas] });
formats.default(ajv);

export function checkAnswers(t: Test, app: App): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const problem = wrong(request, reply, payload);
    if (problem) t.fail(`${request.method} ${request.url} answered ${reply.statusCode}: ${problem}`);
    return payload;
  });
}

function wrong(request: FastifyRequest, reply: FastifyReply, payload: unknown): string | null {
  const mediaType = String(reply.getHeader('content-type') ?? '').split(';')[0] ?? '';
  if (reply.statusCode >= 400) {
    if (typeof payload !== 'string') return 'an error without a body';
    const leak = /node_modules|\bat \S+ \(|select |insert |postgres|redis|ECONN/i.exec(payload);
    if (leak) return `an error that shows "${leak[0]}"`;
    if (mediaType === 'text/html')
      return !request.routeOptions.url || declared(request, reply.statusCode, mediaType)
        ? null
        : 'a page, which is not declared';
    return wrongError(request, reply, mediaType, JSON.parse(payload));
  }
  if (!request.routeOptions.url || request.routeOptions.schema?.hide) return null;
  if (payload === undefined || payload === null || payload === '') {
    const answer = answers(request)[reply.statusCode];
    return answer && !answer.content ? null : 'without a body, which is not declared';
  }
  const schema = declared(request, reply.statusCode, mediaType);
  if (!schema) return `${mediaType} is not declared`;
  // A stream is checked by who reads it.
  if (typeof payload !== 'string') return null;
  return mismatch(schema, /[/+]json$/.test(mediaType) ? JSON.parse(String(payload)) : payload);
}

function wrongError(request: FastifyRequest, reply: FastifyReply, mediaType: string, body: { code: ErrorCode }) {
  if ('jsonrpc' in body) return mismatch(declared(request, reply.statusCode, mediaType) ?? { not: {} }, body);
  if (ERRORS[body.code]?.status !== reply.statusCode) return `code ${body.code} is not of this status`;
  if (!request.routeOptions.url) return mismatch({ $ref: shapeOf(mediaType) }, body);
  const schema = declared(request, reply.statusCode, mediaType);
  return schema ? mismatch(schema, body) : `${mediaType} with ${body.code} is not declared`;
}

const shapeOf = (mediaType: string) => (mediaType === 'application/problem+json' ? 'Problem' : 'Error');

type Answers = Record<number, { content?: Record<string, { schema: TSchema }> }>;

const answers = (request: FastifyRequest): Answers => (request.routeOptions.schema?.response ?? {}) as Answers;

const declared = (request: FastifyRequest, status: number, mediaType: string): TSchema | object | undefined =>
  answers(request)[status]?.content?.[mediaType]?.schema;

function mismatch(schema: object, value: unknown): string | null {
  const check = ajv.compile(schema);
  return check(value) ? null : ajv.errorsText(check.errors);
}
