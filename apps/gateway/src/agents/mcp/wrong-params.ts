import { isJsonObject, type JsonObject } from '@eloquentpoll/contracts';

// For params of a wrong shape the library answers with its validator's report, mostly as an internal error. These
// checks replace that answer by one in the style of our other refusals.

const INVALID_PARAMS = -32602;

type Kind = 'string' | 'object' | 'strings';
interface Member {
  kind: Kind;
  optional?: true;
}

const CURSOR: Record<string, Member> = { cursor: { kind: 'string', optional: true } };

const PARAMS: ReadonlyMap<string, Record<string, Member>> = new Map([
  [
    'initialize',
    { protocolVersion: { kind: 'string' }, capabilities: { kind: 'object' }, clientInfo: { kind: 'object' } },
  ],
  ['tools/list', CURSOR],
  ['tools/call', { name: { kind: 'string' }, arguments: { kind: 'object', optional: true } }],
  ['resources/list', CURSOR],
  ['resources/templates/list', CURSOR],
  ['resources/read', { uri: { kind: 'string' } }],
  ['prompts/list', CURSOR],
  ['prompts/get', { name: { kind: 'string' }, arguments: { kind: 'strings', optional: true } }],
]);

/** The answer to a request whose params do not fit its method; null for every other message. */
export function wrongParams(message: unknown): object | null {
  if (!isJsonObject(message) || message.jsonrpc !== '2.0') return null;
  const { id, method, params } = message;
  if ((typeof id !== 'string' && typeof id !== 'number') || typeof method !== 'string') return null;
  const members = PARAMS.get(method);
  if (!members || (params !== undefined && !isJsonObject(params))) return null;
  const wrong = Object.entries(members).flatMap(([name, member]) => wrongMember(name, member, params ?? {}));
  if (method === 'initialize' && wrong.length === 0) wrong.push(...wrongClient(params?.clientInfo));
  return wrong.length === 0 ? null : { jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message: wrong.join('; ') } };
}

function wrongMember(name: string, { kind, optional }: Member, of: JsonObject, where = 'params'): string[] {
  const path = `${where}.${name}`;
  const value = Object.hasOwn(of, name) ? of[name] : undefined;
  if (value === undefined) return optional ? [] : [`${path} is required`];
  if (kind === 'string') return typeof value === 'string' ? [] : [`${path} must be a string`];
  if (!isJsonObject(value)) return [`${path} must be an object`];
  if (kind === 'object') return [];
  return Object.keys(value)
    .filter((key) => typeof value[key] !== 'string')
    .map((key) => `${path}.${key} must be a string`);
}

/** Name and version of the client program, which every client sends. */
const wrongClient = (client: unknown): string[] =>
  isJsonObject(client)
    ? ['name', 'version'].flatMap((name) => wrongMember(name, { kind: 'string' }, client, 'params.clientInfo'))
    : [];
