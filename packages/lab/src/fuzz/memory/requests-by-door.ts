import type { FuzzedOperation } from '../operations.ts';

// A promise about every way into the service is shown by requests through each of them.

const DOORS: readonly (readonly [
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
export function requestsByDoor(
  counts: ReadonlyMap<string, number>,
  operations: readonly Pick<FuzzedOperation, 'id' | 'method' | 'path'>[],
): Record<string, number> {
  const doorOf = new Map(operations.map((one) => [one.id, DOORS.find(([, is]) => is(one))![0]]));
  const requests = Object.fromEntries(DOORS.map(([name]) => [name, 0]));
  for (const [answer, count] of counts) {
    const door = doorOf.get(answer.split(' ')[0]!);
    if (door !== undefined) requests[door]! += count;
  }
  return requests;
}
