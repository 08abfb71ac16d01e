// The messages that host and service exchange: JSON-RPC, one per line or event.

export interface HostMessage {
  jsonrpc?: unknown;
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: unknown;
}

/** Null if the text is not one message. */
export function messageIn(text: string): HostMessage | null {
  try {
    const message: unknown = JSON.parse(text);
    return isObject(message) ? message : null;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is a JSON object, else an empty one. */
export const objectOr = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** True if the host waits for an answer: not for notifications and not for its own answers. */
export const isRequest = ({ id, method }: HostMessage): boolean => id !== undefined && method !== undefined;

export const isAnswerTo = ({ id }: HostMessage, answer: HostMessage): boolean =>
  answer.id === id && (answer.result !== undefined || answer.error !== undefined);

/** The arguments of a call that makes a poll, which costs money. Null for other messages. */
export const pollArguments = ({ id, method, params }: HostMessage): Record<string, unknown> | null =>
  id !== undefined && method === 'tools/call' && params?.name === 'poll_question' ? objectOr(params.arguments) : null;

/** What a request since revision 2026-07-28 says of its client. Empty in older revisions. */
export const metaOf = ({ params }: HostMessage): Record<string, unknown> => objectOr(params?._meta);

export const REVISION = 'io.modelcontextprotocol/protocolVersion';
