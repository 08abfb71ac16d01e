import type { FuzzedOperation } from '../operations.ts';

// A promise about every way into the service is shown by requests through each of them.

const INTERFACES: readonly (readonly [
  name: string,
  is: (operation: Pick<FuzzedOperation, 'method' | 'path'>) => boolean,
])[] = [
  ['requests over MCP', ({ path }) => path === '/api/mcp'],
  ['requests over A2A', ({ path }) => path.startsWith('/api/a2a/')],
  ['requests over chat completions', ({ path }) => path.startsWith('/v1/')],
  ['webhooks of payments that came in', ({ path }) => path === '/api/webhooks/stripe'],
  ['forms that were sent', ({ method, path }) => method === 'POST' && !path.startsWith('/api/')],
  ['other requests', () => true],
];

/** `counts`: answers by operation, status and code. */
export function requestsByInterface(
  counts: ReadonlyMap<string, number>,
  operations: readonly Pick<FuzzedOperation, 'id' | 'method' | 'path'>[],
): Record<string, number> {
  const interfaceOf = new Map(operations.map((one) => [one.id, INTERFACES.find(([, is]) => is(one))![0]]));
  const requests = Object.fromEntries(INTERFACES.map(([name]) => [name, 0]));
  for (const [answer, count] of counts) {
    const name = interfaceOf.get(answer.split(' ')[0]!);
    if (name !== undefined) requests[name]! += count;
  }
  return requests;
}
