import { boundedFetch } from '../../http/bounded-fetch.ts';

// JSON-RPC calls to the operator's Ethereum node.

export interface NodeAnswer {
  result?: unknown;
  error?: { code?: unknown; message?: unknown } | undefined;
}

export async function askNode(
  url: string,
  method: string,
  params: readonly unknown[],
  timeoutMs: number,
): Promise<NodeAnswer> {
  const response = await boundedFetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  return (await response.json()) as NodeAnswer;
}
