import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  abandonMove,
  type CellDatabase,
  checkLedger,
  compareCells,
  findOpenMove,
  leadHome,
  MoveRefused,
  type MoveTerms,
  moveAccount,
  noteAct,
  openStorage,
  problemsWithMove,
  routerMaps,
  settleMoves,
  whileMoving,
} from '@eloquentpoll/storage';
import { databaseFailure } from './database-failure.ts';

// Moves accounts, and the data that belongs to them, between cells. Each URL connects to a cell's database as its
// owner.

const USAGE = `usage: npm run cells -- COMMAND --cell NAME=URL --cell NAME=URL ... [--json]

  move ACCOUNT --from NAME --to NAME --reason WHY
      moves an account; the same command finishes one that was killed
      --dry-run        says what would refuse it, and writes nothing
      --drain SECONDS  how long its polls may take to end, default 150; after that it goes on where it is
      --keep HOURS     how long the source keeps what it had, closed; default 96, after the last webhooks
      --as OPERATOR    who moves it, for the log of both cells
  abandon ACCOUNT --from NAME --to NAME
      gives a move up that has not left its source
  settle      sends after moved accounts the money that reached a cell which they had left; finishes moves that had left
  check       compares what left and what arrived, and checks the ledger of every cell; the exit code is 1 where they differ
  map --into FOLDER
      writes accounts.map and results.map for the router; reload it afterwards

CELL_URLS in the environment holds NAME=URL too, with blanks between them: a command line can be read by other users.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cell: { type: 'string', multiple: true, default: [] },
    from: { type: 'string' },
    to: { type: 'string' },
    reason: { type: 'string', default: 'moved to another cell' },
    as: { type: 'string', default: userInfo().username },
    drain: { type: 'string', default: '150' },
    keep: { type: 'string', default: '96' },
    into: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [command = 'help', account] = positionals;
if (values.help || command === 'help') {
  process.stdout.write(USAGE);
  process.exit(0);
}

const urls = [...values.cell, ...(process.env.CELL_URLS ?? '').split(/\s+/).filter((text) => text !== '')];
await using opened = new AsyncDisposableStack();
const cells = new Map(urls.map(openCell).map((cell) => [cell.name, cell]));
if (cells.size < 2) refuse('name two cells or more: --cell 0=postgres://... --cell 1=postgres://...');

try {
  await run();
} catch (error) {
  const failure = databaseFailure(error);
  if (failure === null) throw error;
  refuse(`a database has failed (${failure}): run the same command again`);
}

async function run(): Promise<void> {
  switch (command) {
    case 'move':
      await move();
      break;
    case 'abandon':
      await abandon();
      break;
    case 'settle': {
      const settled = [];
      for (const from of cells.values())
        for (const to of cells.values())
          if (from !== to)
            for (const one of await settleMoves(from, to)) settled.push({ from: from.name, to: to.name, ...one });
      say(
        { settled },
        settled.map((one) => `${one.accountId}: ${one.amountU} uUSD from ${one.from} to ${one.to}`).join('\n'),
      );
      await leadHome([...cells.values()]);
      break;
    }
    case 'check':
      await check();
      break;
    case 'map':
      await map();
      break;
    default:
      refuse(`${command} is not known`);
  }
}

async function move(): Promise<void> {
  const terms = termsOf();
  const { accountId, from, to } = terms;
  const isOpen = (await findOpenMove(from.storage, accountId)) !== null;
  if (values['dry-run']) {
    const problems = isOpen ? [] : await problemsWithMove(terms);
    say({ problems, goes_on: isOpen }, problems.length === 0 ? 'it can move' : problems.join('\n'));
    process.exitCode = problems.length === 0 ? 0 : 1;
    return;
  }
  const act = { actionId: randomUUID(), operator: values.as, verb: 'move', subject: accountId, reason: values.reason };
  const note = (outcome: string, facts: Record<string, string> = {}) =>
    Promise.all(
      [from, to].map(({ storage }) => noteAct(storage, act, outcome, { from: from.name, to: to.name, ...facts })),
    );
  await note('begun');
  try {
    const moved = await whileMoving(from.storage, accountId, () =>
      moveAccount(terms, (step) => {
        process.stderr.write(`${step}\n`);
      }),
    );
    await note('moved', { move_id: moved.moveId, amount_u: String(moved.amountU) });
    say(
      moved,
      `${moved.polls} polls and ${moved.amountU} uUSD are in cell ${to.name}; frozen for ${Math.round(moved.frozenMs)} ms`,
    );
    // Last, because it calls every cell, and one of them may be down.
    await leadHome([...cells.values()]);
  } catch (error) {
    if (!(error instanceof MoveRefused)) throw error;
    await note('refused');
    say({ refused: error.message }, error.message);
    process.exitCode = 1;
  }
}

async function abandon(): Promise<void> {
  const { from, to, accountId } = termsOf();
  try {
    await whileMoving(from.storage, accountId, async () => {
      const open = await findOpenMove(from.storage, accountId);
      if (!open || open.state === 'left')
        refuse(open ? 'the account has left: finish the move' : 'there is no such move');
      await abandonMove(from.storage, to, open);
      say({ abandoned: open.id }, `the account goes on in cell ${from.name}`);
    });
  } catch (error) {
    if (error instanceof MoveRefused) refuse(error.message);
    throw error;
  }
}

async function check(): Promise<void> {
  const compared = await compareCells([...cells.values()]);
  const violations = [];
  for (const { name, storage } of cells.values())
    for (const violation of await checkLedger(storage)) violations.push({ cell: name, ...violation });
  const driftU = compared.leftU - compared.arrivedU;
  const lines = [
    `${compared.moves} moves: ${compared.leftU} uUSD left, ${compared.arrivedU} arrived, drift ${driftU}`,
    ...compared.underWay.map((id) => `${id} left and has not arrived: settle finishes it`),
    ...compared.lost.map((id) => `${id} arrived, and its target has nothing of it: see infra/cells/README.md`),
    ...compared.wrong.map((id) => `${id} is not the same in both cells`),
    ...violations.map(({ cell, rule, subject, found }) => `cell ${cell}: ${rule} ${subject}: ${found}`),
  ];
  say({ ...compared, driftU, violations }, lines.join('\n'));
  if (driftU !== 0n || compared.lost.length + compared.wrong.length + violations.length > 0) process.exitCode = 1;
}

async function map(): Promise<void> {
  if (!values.into) refuse('map needs --into FOLDER');
  const maps = await routerMaps([...cells.values()]);
  mkdirSync(values.into, { recursive: true });
  for (const [name, text] of Object.entries(maps)) {
    const file = join(values.into, `${name}.map`);
    // Written aside and renamed, so that a router reading it sees either the old file or the new one.
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
  const count = (text: string) => text.split('\n').length - 1;
  const counts = { accounts: count(maps.accounts), results: count(maps.results) };
  say(counts, `${counts.accounts} accounts and ${counts.results} results; reload the router`);
}

function termsOf(): MoveTerms {
  const [from, to] = [cellNamed('from'), cellNamed('to')];
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(account ?? '')) refuse('name the account by its id');
  return { accountId: account!, from, to, drainS: seconds('drain', 1), keepS: seconds('keep', 3_600) };
}

function cellNamed(option: 'from' | 'to'): CellDatabase {
  const cell = cells.get(values[option] ?? '');
  return cell ?? refuse(`--${option} must be one of ${[...cells.keys()].join(', ')}`);
}

function seconds(option: 'drain' | 'keep', unit: number): number {
  const text = values[option];
  if (!/^\d{1,6}(\.\d+)?$/.test(text)) refuse(`--${option} must be a number`);
  return Number(text) * unit;
}

function openCell(text: string): CellDatabase {
  const [, name, url] = /^([0-9a-hjkmnp-tv-z])=(postgres(?:ql)?:\/\/.+)$/.exec(text) ?? [];
  if (name === undefined || url === undefined) refuse('a cell is NAME=URL, its name the CELL of its gateways');
  const storage = openStorage({
    databaseUrl: url,
    maxConnections: 3,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 120_000,
    lockTimeoutMs: 30_000,
    applicationName: 'eloquentpoll cells',
  });
  return { name, storage: opened.use(storage) };
}

function say(value: object, text: string): void {
  const plain = (_key: string, one: unknown): unknown => (typeof one === 'bigint' ? String(one) : one);
  process.stdout.write(`${values.json ? JSON.stringify(value, plain) : text}\n`);
}

function refuse(why: string): never {
  process.stderr.write(`cells: ${why}\n`);
  process.exit(2);
}
