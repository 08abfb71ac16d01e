import { isJsonObject } from '@eloquentpoll/contracts';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import { ApiError } from '../../http/api-error.ts';
import { isRpc, type RpcId, rpcIdOf } from '../json-rpc.ts';
import {
  A2A_ERRORS,
  type A2aMethod,
  type A2aVersion,
  METHOD_NAMES,
  methodNotOffered,
  offeredMethod,
  type TaskAction,
} from './methods.ts';

// Parses a body of the task endpoint. The method name determines the protocol version, so one address serves all
// versions. A body that is not JSON-RPC contains the parameters of version 0.1.

export interface A2aCall extends A2aMethod {
  params: Record<string, unknown>;
  /** Absent if the body is not JSON-RPC; then the answer is the bare task. */
  rpcId?: RpcId;
}

/** An error with its own code in JSON-RPC or A2A. */
export class RpcProtocolError extends ApiError {
  readonly rpcCode: number;

  constructor(rpcCode: number, detail: string) {
    super('invalid_task_input', { detail });
    this.rpcCode = rpcCode;
  }
}

export function readCall(body: unknown): A2aCall {
  if (!isJsonObject(body)) throw new RpcProtocolError(-32_600, 'The body must be a task or one JSON-RPC message.');
  const rpcId = rpcIdOf(body);
  if (rpcId === undefined) return { version: '0.1', action: 'send', params: body };
  if (body.jsonrpc !== '2.0') throw new RpcProtocolError(-32_600, 'jsonrpc must be "2.0".');
  if (rpcId === null && body.id !== undefined && body.id !== null) {
    throw new RpcProtocolError(-32_600, 'id must be a string or a number.');
  }
  const { method } = body;
  if (typeof method !== 'string') throw new RpcProtocolError(-32_600, 'method must be a string.');
  const refused = methodNotOffered(method);
  if (refused) throw new RpcProtocolError(refused.rpcCode, refused.detail);
  const known = offeredMethod(method);
  if (!known) {
    throw new RpcProtocolError(-32_601, `The methods of this endpoint are ${METHOD_NAMES.join(', ')}.`);
  }
  const params = known.action === 'list' ? (body.params ?? {}) : body.params;
  if (!isJsonObject(params)) throw new RpcProtocolError(-32_602, 'params must be an object.');
  return { ...known, params, rpcId };
}

/** The version in which to answer any body. */
export function versionOf(body: unknown): A2aVersion {
  const method = isJsonObject(body) ? body.method : undefined;
  return (offeredMethod(method) ?? methodNotOffered(method))?.version ?? '0.1';
}

/** The rate-limit budget for any body, and so the scope that it needs: as in REST. Unknown methods need no scope. */
export function taskOperation(body: unknown): BudgetName {
  if (!isRpc(body)) return 'poll';
  const action = offeredMethod(body.method)?.action;
  return action === undefined ? 'read' : OPERATIONS[action];
}

const OPERATIONS: Readonly<Record<TaskAction, BudgetName>> = {
  send: 'poll',
  stream: 'poll',
  get: 'session',
  list: 'session',
  subscribe: 'session',
  cancel: 'account',
};

const VERSIONS = ['0.1', '0.2', '0.3', '1.0'];

/** Version 1.0 introduced the A2A-Version header; older clients do not send it. */
export function refuseUnknownVersion(header: string | undefined): void {
  const [version = ''] = /^\d+\.\d+/.exec(header ?? '') ?? [];
  if (header && !VERSIONS.includes(version)) {
    throw new RpcProtocolError(A2A_ERRORS.versionNotSupported, `A2A-Version must be one of ${VERSIONS.join(', ')}.`);
  }
}
