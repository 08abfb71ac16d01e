import type { ModelPlan } from './models.ts';
import type { Product } from './product.ts';

type Models = Pick<ModelPlan, 'simulate' | 'notice'>;

// The last output of a start: the address of the product, its key, and a command to try it.

export function announcement(product: Product, seconds: string, { simulate, notice }: Models): string {
  const { url, apiKey, balanceU, opsUrls, login } = product;
  const body = `{"question":"Which database should a small team start with?","options":["Postgres","MongoDB","SQLite"]}`;
  return [
    '',
    `  EloquentPoll is ready after ${seconds} s. Ctrl-C ends everything.`,
    '',
    `  Open       ${url}/?view=human`,
    `  Playground ${url}/playground`,
    `  Dashboard  ${url}/dashboard${login ? `  (sign in as ${login})` : ''}`,
    `  API docs   ${url}/api/docs`,
    '',
    `  API key    ${apiKey}`,
    `  Balance    $${dollars(balanceU)} on the local account`,
    `  Metrics    ${Object.entries(opsUrls)
      .map(([name, at]) => `${at}/metrics (${name})`)
      .join('  ')}`,
    ...(simulate
      ? ['', '  ! Models are simulated, and so are their answers. Set OPENROUTER_API_KEY for real ones.']
      : []),
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
