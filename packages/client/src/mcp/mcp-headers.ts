import { type HostMessage, metaOf, REVISION } from './host-message.ts';

/** The headers that the protocol requires over HTTP. `negotiated`: the revision that `initialize` has agreed on. */
export function mcpHeaders(message: HostMessage, key: string, negotiated: string | undefined): Record<string, string> {
  const { method, params } = message;
  const version = metaOf(message)[REVISION] ?? negotiated;
  const name = params?.name ?? params?.uri ?? params?.taskId;
  return {
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
    ...(method !== undefined && { 'mcp-method': method }),
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

/** The protocol's encoding for text that a header cannot contain. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;
