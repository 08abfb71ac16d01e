import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { balanceOf } from '@eloquentpoll/storage';
import { createFundedAccount, insertApiKey } from '../fixture/accounts.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { type CallerLog, runCallers } from './callers.ts';
import { runCellsCommand, STEPS } from './mover.ts';
import { type Router, startRouter } from './router.ts';
import { type RunningCell, startTwoCells } from './two-cells.ts';

// Accounts under load in two cells behind the router. One account is moved to the other cell and back, while the
// command that moves it is killed at its steps. Then every answered poll must be found, and every cent accounted for.

export interface CellsTried {
  holds: boolean;
  figures: Record<string, number>;
  /** Failed tries of the moved account's callers, by status and code. */
  repeated: Record<string, number>;
  problems: string[];
}

export interface CellsTrial {
  /** The number of moves, in turn to the other cell and back. */
  moves: number;
  /** How often the command is killed in each move. */
  killsPerMove: number;
  callersPerAccount: number;
  seed: string;
}

const BETWEEN_MS = 1_500;

export async function tryCells(
  group: ProcessGroup,
  trial: CellsTrial,
  { progress, signal }: { progress: ProgressLine; signal: AbortSignal },
): Promise<CellsTried> {
  await using made = new AsyncDisposableStack();
  const { cells } = made.use(await startTwoCells(group, trial.seed));
  const ports = [cells[0].port, cells[1].port] as const;
  const router = made.use(await startRouter({ folder: group.folder, ports }));
  const url = `http://127.0.0.1:${router.port}`;
  const accounts = await Promise.all([openAccount(cells[0]), openAccount(cells[0]), openAccount(cells[1])]);
  const [moved] = accounts;
  const over = new AbortController();
  const callers = accounts.map(({ key }) => runCallers({ url, key, atOnce: trial.callersPerAccount }, over.signal));
  const moves: Move[] = [];
  try {
    await sleep(BETWEEN_MS);
    for (let n = 0; n < trial.moves; n++) {
      signal.throwIfAborted();
      const [from, to] = n % 2 === 0 ? cells : ([cells[1], cells[0]] as const);
      progress.show(`move ${n + 1} of ${trial.moves}, from cell ${from.name} to ${to.name}`);
      moves.push(await move(cells, { accountId: moved.accountId, from, to, n, kills: trial.killsPerMove }));
      // Until the router has the new maps, gateways redirect it to the account's cell.
      await sleep(BETWEEN_MS);
      await updateMaps(cells, router, group.folder);
      await sleep(BETWEEN_MS);
    }
  } finally {
    over.abort();
  }
  const logs = await Promise.all(callers);
  progress.show('every answered poll is looked for');
  return await judge({ cells, accounts, logs, url, moves, isKilled: trial.moves > 0 && trial.killsPerMove > 0 });
}

interface Account {
  accountId: string;
  key: string;
  grantedU: bigint;
}

async function openAccount({ stores, name }: RunningCell): Promise<Account> {
  const accountId = await createFundedAccount(stores.storage);
  const { key } = await insertApiKey(stores.storage, accountId, name);
  return { accountId, key, grantedU: (await balanceOf(stores.storage, accountId))!.postedU };
}

interface Move {
  frozenMs: number;
  kills: number;
}

interface MoveOrder {
  accountId: string;
  from: RunningCell;
  to: RunningCell;
  n: number;
  kills: number;
}

/** The command is killed at one step after the other, up to `kills` times, and then runs to its end. */
async function move(cells: readonly RunningCell[], { accountId, from, to, n, kills }: MoveOrder): Promise<Move> {
  const args = ['move', accountId, '--from', from.name, '--to', to.name];
  let killed = 0;
  for (let i = 0; i < kills; i++) {
    const step = STEPS[(n * kills + i) % STEPS.length]!;
    const { code } = await runCellsCommand(cells, args, { killAfter: { step, ms: (i % 3) * 4 } });
    if (code === null) killed += 1;
    // The last steps are so short that the command may have ended before the kill.
    else break;
  }
  const [row] = await from.stores.query<{ state: string }>(
    `select state from account_moves where account_id = $1 and direction = 'out' order by created_at desc limit 1`,
    [accountId],
  );
  if (row?.state !== 'arrived') {
    const { code, json } = await runCellsCommand(cells, args);
    if (code !== 0) throw new Error(`the move did not end: ${JSON.stringify(json)}`);
  }
  const [{ ms }] = (await from.stores.query<{ ms: number }>(
    `select (extract(epoch from arrived_at - frozen_at) * 1000)::float8 as ms from account_moves
      where account_id = $1 and direction = 'out' order by created_at desc limit 1`,
    [accountId],
  )) as [{ ms: number }];
  return { frozenMs: ms, kills: killed };
}

async function updateMaps(cells: readonly RunningCell[], router: Router, folder: string): Promise<void> {
  const into = join(folder, 'maps');
  await runCellsCommand(cells, ['map', '--into', into]);
  const text = (name: string) => readFileSync(join(into, `${name}.map`), 'utf8');
  router.setMaps({ accounts: text('accounts'), results: text('results') });
}

interface Tried {
  cells: readonly [RunningCell, RunningCell];
  accounts: readonly Account[];
  logs: readonly CallerLog[];
  url: string;
  moves: readonly Move[];
  /** The command was to be killed. */
  isKilled: boolean;
}

async function judge({ cells, accounts, logs, url, moves, isKilled }: Tried): Promise<CellsTried> {
  const problems = logs.flatMap(({ wrong }) => wrong);
  const homes = [cells[moves.length % 2]!, cells[0], cells[1]];
  for (const [i, { accountId, key, grantedU }] of accounts.entries()) {
    const home = homes[i]!;
    const ids = logs[i]!.asked.map(({ resultId }) => resultId);
    problems.push(...(await missing(url, key, ids)));
    const balance = (await balanceOf(home.stores.storage, accountId))!;
    const [sums] = await home.stores.query<{ polls: number; cost_u: string; running: number }>(
      `select count(*)::integer as polls, coalesce(sum(r.total_cost_u), 0)::text as cost_u,
              count(*) filter (where p.status = 'running')::integer as running
         from polls p left join results r on r.poll_id = p.id where p.account_id = $1`,
      [accountId],
    );
    const { polls, cost_u, running } = sums!;
    if (running > 0) problems.push(`${running} polls of account ${i} still run`);
    if (polls !== ids.length) problems.push(`account ${i} asked ${ids.length} polls and has ${polls}`);
    if (balance.postedU !== grantedU - BigInt(cost_u))
      problems.push(`account ${i} has ${balance.postedU}, not ${grantedU} less ${cost_u}`);
    if (balance.usageU !== BigInt(cost_u)) problems.push(`usage of account ${i} is ${balance.usageU}, not ${cost_u}`);
  }
  const kills = moves.reduce((sum, move) => sum + move.kills, 0);
  if (isKilled && kills === 0) problems.push('the command that moves was never killed: it ended before each kill');
  const { code, json: compared } = await runCellsCommand(cells, ['check']);
  if (code !== 0) problems.push(`check: ${JSON.stringify(compared)}`);
  const outages = logs[0]!.asked.map(({ outageMs }) => outageMs).filter((ms) => ms > 0);
  const others = logs.slice(1).flatMap(({ asked }) => asked.map(({ outageMs }) => outageMs));
  return {
    holds: problems.length === 0,
    figures: {
      'polls answered': logs.reduce((sum, { asked }) => sum + asked.length, 0),
      'of the moved account': logs[0]!.asked.length,
      moves: moves.length,
      'kills of the command': kills,
      'frozen, ms, median': Math.round(median(moves.map(({ frozenMs }) => frozenMs))),
      'frozen, ms, longest': Math.round(Math.max(...moves.map(({ frozenMs }) => frozenMs))),
      'callers who had to repeat': outages.length,
      'waited for an answer, ms, longest': Math.round(Math.max(0, ...outages)),
      'other accounts that had to repeat': others.filter((ms) => ms > 0).length,
      'drift, uUSD': Number(compared.driftU),
    },
    repeated: Object.fromEntries(logs[0]!.repeated),
    problems: [...new Set(problems)].slice(0, 20),
  };
}

/** Polls that are not in their owner's list, or cannot be read without a key by their public id. */
async function missing(url: string, key: string, ids: readonly string[]): Promise<string[]> {
  const listed = new Set<string>();
  let after: string | null = null;
  do {
    const answer = await get(`${url}/api/polls?limit=100${after ? `&after=${after}` : ''}`, key);
    const page = (await answer.json()) as { polls: { result_id: string; session_id: string }[]; has_more: boolean };
    for (const { result_id } of page.polls) listed.add(result_id);
    after = page.has_more ? page.polls.at(-1)!.session_id : null;
  } while (after !== null);
  const problems = ids.filter((id) => !listed.has(id)).map((id) => `${id} is not in its owner's list`);
  const left = [...ids];
  const statuses: { id: string; status: number }[] = [];
  const reader = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop())
      statuses.push({ id, status: (await get(`${url}/api/results/${id}`)).status });
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return [
    ...problems,
    ...statuses.filter(({ status }) => status !== 200).map((one) => `public: ${JSON.stringify(one)}`),
  ];
}

const READERS = 8;

/** Retries, because a router that was reloaded closes its idle connections. */
async function get(address: string, key?: string): Promise<Response> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetch(address, { headers });
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
