import { ApiError } from '../../http/api-error.ts';
import { isObject, type RpcId } from '../json-rpc.ts';

// What a body at the task endpoint says: which generation of the protocol it speaks, and what it wants. The method
// names tell them apart, so that one address serves all; a body that is no JSON-RPC is the parameters themselves, in
// the words of the first generation.

export type Dialect = '0.1' | '0.3' | '1.0';
export type Action = 'send' | 'get';

export interface Call {
  dialect: Dialect;
  action: Action;
  params: Record<string, unknown>;
  /** Absent from the plain form, whose answer is the task itself. */
  rpcId?: RpcId;
}

const METHODS: Readonly<Record<string, { dialect: Dialect; action: Action }>> = {
  'tasks/send': { dialect: '0.1', action: 'send' },
  'message/send': { dialect: '0.3', action: 'send' },
  SendMessage: { dialect: '1.0', action: 'send' },
  'tasks/get': { dialect: '0.3', action: 'get' },
  GetTask: { dialect: '1.0', action: 'get' },
};

/** A refusal that JSON-RPC has a number of its own for. */
export class RpcRefusal extends ApiError {
  readonly rpcCode: number;

  constructor(rpcCode: number, detail: string) {
    super('invalid_task_input', { detail });
    this.rpcCode = rpcCode;
  }
}

/** The id to answer to, for any body, however wrong; undefined for the plain form. */
export function rpcIdOf(body: unknown): RpcId | undefined {
  if (!isObject(body) || body.jsonrpc !== '2.0') return undefined;
  const { id } = body;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

export function readCall(body: unknown): Call {
  if (!isObject(body)) throw new RpcRefusal(-32_600, 'The body must be a task or one JSON-RPC message.');
  const rpcId = rpcIdOf(body);
  if (rpcId === undefined) return { dialect: '0.1', action: 'send', params: body };
  const { method } = body;
  const known = typeof method === 'string' && Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (!known) {
    throw new RpcRefusal(-32_601, `The methods of this endpoint are ${Object.keys(METHODS).join(', ')}.`);
  }
  if (!isObject(body.params)) throw new RpcRefusal(-32_602, 'params must be an object.');
  return { ...known, params: body.params, rpcId };
}

/** Whether a body asks for a task that was sent before; for any body. */
export const asksForTask = (body: unknown): boolean =>
  isObject(body) && typeof body.method === 'string' && METHODS[body.method]?.action === 'get';

const VERSIONS = ['0.1', '0.2', '0.3', '1.0'];

/** Clients of version 1.0 say which version they mean; the others say nothing. */
export function refuseUnknownVersion(header: string | undefined): void {
  const [version = ''] = /^\d+\.\d+/.exec(header ?? '') ?? [];
  if (header && !VERSIONS.includes(version)) {
    throw new RpcRefusal(-32_009, `A2A-Version must be one of ${VERSIONS.join(', ')}.`);
  }
}
