import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { progressOn } from '../terminal/progress.ts';
import { percent, table } from '../terminal/table.ts';
import { AREAS } from './areas.ts';
import { type Databases, openDatabases } from './databases.ts';
import { type Figures, mutateArea } from './mutate-area.ts';

// npm run mutate: small wrong changes in the code that decides about votes, money, keys and repeated requests, each of
// which a test must notice. Exit code 1 when fewer than 85 % of an area's changes were noticed.

export interface Servers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** The database that tests clone. */
  readonly template: string;
}

const USAGE = `usage: npm run mutate -- [--area NAMES] [--every N] [--at-once N] [--json]

  --area NAMES  of ${AREAS.map((area) => area.name).join(', ')}, separated by commas; all without it
  --every N     only every n-th mutant
  --at-once N   test runs side by side, default 2
  --json        figures as JSON instead of tables
`;

const LEAST_SCORE = 0.85;
const ROOT = join(import.meta.dirname, '../../../..');

class UsageError extends Error {}

export async function main(argv: readonly string[], servers: () => Promise<Servers>): Promise<number> {
  try {
    return await mutate(parse(argv), await servers());
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

async function mutate(args: ReturnType<typeof parse>, servers: Servers): Promise<number> {
  const progress = progressOn(process.stderr);
  await using opened = new AsyncDisposableStack();
  let databases: Promise<Databases> | null = null;
  const figures: Figures[] = [];
  for (const area of args.areas) {
    const of = await mutateArea({
      area,
      root: ROOT,
      env: {
        ...process.env,
        TEST_DATABASE_URL: servers.databaseUrl,
        TEST_TEMPLATE_DATABASE: servers.template,
        TEST_REDIS_URL: servers.redisUrl,
      },
      databases() {
        databases ??= openDatabases(servers.databaseUrl, servers.template).then((made) => opened.use(made));
        return databases;
      },
      atOnce: args.atOnce,
      every: args.every,
      onVerdict: ({ killed, survivors }, left) =>
        progress.show(`${area.name}: ${killed} killed, ${survivors.length} survived, ${left} left`),
    });
    figures.push(of);
    progress.end();
    if (!args.json) for (const survivor of of.survivors) console.log(`  survived: ${survivor}`);
  }
  console.log(args.json ? JSON.stringify(figures, null, 2) : lines(figures).join('\n'));
  return figures.every((each) => scoreOf(each) >= LEAST_SCORE) ? 0 : 1;
}

const scoreOf = ({ killed, mutants }: Figures): number => (mutants === 0 ? 1 : killed / mutants);

const lines = (figures: readonly Figures[]): string[] =>
  table(
    ['area', 'mutants', 'killed', 'of these, without an end', 'survived', 'impossible', 'score'],
    figures.map((each) => [
      each.area,
      String(each.mutants),
      String(each.killed),
      String(each.late),
      String(each.survivors.length),
      String(each.impossible),
      percent(scoreOf(each)),
    ]),
  );

function parse(argv: readonly string[]) {
  try {
    const { values } = parseArgs({
      // A package runner hands its own separator on.
      args: argv[0] === '--' ? argv.slice(1) : [...argv],
      options: {
        area: { type: 'string' },
        every: { type: 'string', default: '1' },
        'at-once': { type: 'string', default: '2' },
        json: { type: 'boolean', default: false },
      },
    });
    const names = values.area?.split(',') ?? AREAS.map((area) => area.name);
    return {
      areas: names.map((name) => AREAS.find((area) => area.name === name) ?? unknown(name)),
      every: count('--every', values.every),
      atOnce: count('--at-once', values['at-once']),
      json: values.json,
    };
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function unknown(name: string): never {
  throw new UsageError(`there is no area "${name}"`);
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1_000) return value;
  throw new UsageError(`${option} is a whole number from 1 to 1000, not "${text}"`);
}
