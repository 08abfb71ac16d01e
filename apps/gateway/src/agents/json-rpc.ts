import { type ErrorCode, errorBody, isJsonObject, type Occurrence, problemBody } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import { type AnswerSchema, errors } from '../http/answers.ts';

// JSON-RPC 2.0 messages and errors, for A2A and MCP.

export type RpcId = string | number | null;

export const RpcMessage = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
    method: Type.Optional(Type.String()),
    params: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { additionalProperties: true },
);

export const RpcError = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
    error: Type.Object({ code: Type.Integer(), message: Type.String() }, { additionalProperties: true }),
  },
  { description: 'The error in JSON-RPC form, if the request was JSON-RPC.' },
);

/** The id for the answer, from any body; undefined if the body is not JSON-RPC. */
export function rpcIdOf(body: unknown): RpcId | undefined {
  if (!isRpc(body)) return undefined;
  return typeof body.id === 'string' || typeof body.id === 'number' ? body.id : null;
}

/** Parameters of A2A 0.1 have neither of these fields. */
export const isRpc = (body: unknown): body is Record<string, unknown> =>
  isJsonObject(body) && (Object.hasOwn(body, 'jsonrpc') || Object.hasOwn(body, 'method'));

/** The `data` of a JSON-RPC error: what the error says as plain JSON, and the ways out. */
export function rpcErrorData(occurrence: Occurrence, baseUrl: string) {
  const { retryable, recovery, errors } = problemBody(occurrence, baseUrl);
  return { ...errorBody(occurrence), retryable, recovery, ...(errors && { errors }) };
}

/** The code of JSON-RPC for an error that has none of its own. */
export function rpcCodeOf(cause: ErrorCode, status: number): number {
  if (cause === 'malformed_json') return -32_700;
  if (status === 413) return -32_600;
  if (status === 400 || status === 422) return -32_602;
  return status >= 500 ? -32_603 : -32_000;
}

/** The errors of an operation that answers JSON-RPC requests with JSON-RPC errors. */
export function rpcErrors(...codes: readonly ErrorCode[]): Record<number, AnswerSchema> {
  return Object.fromEntries(
    Object.entries(errors(...codes)).map(([status, answer]) => {
      const { 'application/json': plain, ...others } = answer.content;
      if (!plain) throw new Error(`the errors of status ${status} have no plain form`);
      const either = { schema: Type.Union([plain.schema, RpcError]) };
      return [status, { ...answer, content: { 'application/json': either, ...others } }];
    }),
  );
}
