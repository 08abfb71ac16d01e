import type { Product } from './product.ts';

// The last thing that a start says: where the product is, the key to it, and a line to try it with.

export function announcement(product: Product, seconds: string, notice: string | null): string {
  const { url, apiKey, balanceU, opsUrls } = product;
  const body = `{"question":"Which database should a small team start with?","options":["Postgres","MongoDB","SQLite"]}`;
  return [
    '',
    `  EloquentPoll is ready after ${seconds} s. Ctrl-C ends everything.`,
    '',
    `  URL      ${url}`,
    `  API key  ${apiKey}`,
    `  Balance  $${dollars(balanceU)} on the local account`,
    ...Object.entries(opsUrls).map(([name, at]) => `  Metrics  ${at}/metrics (${name})`),
    ...(notice ? ['', `  ! ${notice}`] : []),
    '',
    '  Run a poll:',
    '',
    `curl -s ${url}/api/poll -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${body}'`,
    '',
  ].join('\n');
}

export function readyLine(product: Product): string {
  const { url, apiKey, accountId, balanceU, opsUrls, processes } = product;
  return JSON.stringify({
    msg: 'ready',
    url,
    api_key: apiKey,
    account_id: accountId,
    balance_cents: Number(balanceU / 10_000n),
    ops_urls: opsUrls,
    processes: Object.fromEntries(processes.map(({ name, pid }) => [name, pid])),
  });
}

function dollars(microUsd: bigint): string {
  return (Number(microUsd / 10_000n) / 100).toFixed(2);
}
