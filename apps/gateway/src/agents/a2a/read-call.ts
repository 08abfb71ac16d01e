import { isJsonObject } from '@eloquentpoll/contracts';
import { ApiError } from '../../http/api-error.ts';
import type { RpcId } from '../json-rpc.ts';

// Parses a body of the task endpoint. The method name determines the protocol version, so one address serves all; a body
// that is not JSON-RPC is the parameters of version 0.1.

export type A2aVersion = '0.1' | '0.3' | '1.0';
export type TaskAction = 'send' | 'get';

export interface A2aCall {
  version: A2aVersion;
  action: TaskAction;
  params: Record<string, unknown>;
  /** Absent if the body is not JSON-RPC; the answer is then the bare task. */
  rpcId?: RpcId;
}

const METHODS: Readonly<Record<string, { version: A2aVersion; action: TaskAction }>> = {
  'tasks/send': { version: '0.1', action: 'send' },
  'message/send': { version: '0.3', action: 'send' },
  SendMessage: { version: '1.0', action: 'send' },
  'tasks/get': { version: '0.3', action: 'get' },
  GetTask: { version: '1.0', action: 'get' },
};

/** An error with a code of its own in JSON-RPC or A2A. */
export class RpcProtocolError extends ApiError {
  readonly rpcCode: number;

  constructor(rpcCode: number, detail: string) {
    super('invalid_task_input', { detail });
    this.rpcCode = rpcCode;
  }
}

/** The id to answer to, for any body; undefined if it is not JSON-RPC. */
export function rpcIdOf(body: unknown): RpcId | undefined {
  if (!isJsonObject(body) || body.jsonrpc !== '2.0') return undefined;
  const { id } = body;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

export function readCall(body: unknown): A2aCall {
  if (!isJsonObject(body)) throw new RpcProtocolError(-32_600, 'The body must be a task or one JSON-RPC message.');
  const rpcId = rpcIdOf(body);
  if (rpcId === undefined) return { version: '0.1', action: 'send', params: body };
  const { method } = body;
  const known = typeof method === 'string' && Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (!known) {
    throw new RpcProtocolError(-32_601, `The methods of this endpoint are ${Object.keys(METHODS).join(', ')}.`);
  }
  if (!isJsonObject(body.params)) throw new RpcProtocolError(-32_602, 'params must be an object.');
  return { ...known, params: body.params, rpcId };
}

/** Whether any body reads an existing task. */
export const isTaskRead = (body: unknown): boolean =>
  isJsonObject(body) && typeof body.method === 'string' && METHODS[body.method]?.action === 'get';

const VERSIONS = ['0.1', '0.2', '0.3', '1.0'];

/** The A2A-Version header was introduced in version 1.0; older clients do not send it. */
export function refuseUnknownVersion(header: string | undefined): void {
  const [version = ''] = /^\d+\.\d+/.exec(header ?? '') ?? [];
  if (header && !VERSIONS.includes(version)) {
    throw new RpcProtocolError(-32_009, `A2A-Version must be one of ${VERSIONS.join(', ')}.`);
  }
}
