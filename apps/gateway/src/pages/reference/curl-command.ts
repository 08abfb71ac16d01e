import type { SiteFacts } from '../../discovery/documents/facts.ts';
import { sampleOf } from '../../discovery/documents/operation-samples.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import type { ApiOperation } from './openapi-shapes.ts';

// One curl command per operation, to paste into a shell. It reads a key from EP_KEY, a login cookie from EP_SESSION.

export interface Located {
  method: string;
  path: string;
  operation: ApiOperation;
}

/** Null if the body must be signed by a wallet or comes from another service. */
export function curlCommand(facts: SiteFacts, { method, path, operation }: Located): string | null {
  const sample = sampleOf(operation.operationId, facts);
  const takesBody = operation.requestBody !== undefined;
  if (takesBody && !sample.body) return null;
  const url = Object.entries(sample.path ?? {}).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
  if (url.includes('{')) return null;
  const query = new URLSearchParams(sample.query ?? {}).toString();
  const lines = [
    `curl -sS '${facts.baseUrl}${url}${query === '' ? '' : `?${query}`}'`,
    // curl sends POST if there is a body, otherwise GET.
    ...(method === (sample.body ? 'POST' : 'GET') ? [] : [`-X ${method}`]),
    ...credentials(facts, operation),
    ...(operation['x-agent-hints']?.usage.idempotency_key ? [`-H 'Idempotency-Key: order-1234'`] : []),
    ...(sample.body ? [`-H 'Content-Type: application/json'`, `-d '${JSON.stringify(sample.body, null, 2)}'`] : []),
  ];
  return lines.join(' \\\n  ');
}

function credentials(facts: SiteFacts, { security = [], operationId }: ApiOperation): string[] {
  if (security.length === 0 || (operationId === 'quickPoll' && runsFreePolls(facts))) return [];
  if (security.some((one) => 'apiKey' in one)) return ['-H "Authorization: Bearer $EP_KEY"'];
  return ['-H "Cookie: ep_session=$EP_SESSION"'];
}
