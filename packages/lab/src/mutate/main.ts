import { root } from '@eloquentpoll/launch/folders';
import { createTemplate, TEMPLATE } from '@eloquentpoll/services/databases';
import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { APP_ROLES, migrate } from '@eloquentpoll/storage';
import { names, parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { asPercent, tableLines } from '../terminal/table.ts';
import { AREAS } from './areas.ts';
import { type Databases, openDatabases } from './databases.ts';
import { type MutationFigures, mutateArea } from './mutate-area.ts';

// npm run mutate: small wrong changes in the code that decides about votes, money, keys and repeated requests, each of
// which a test must notice. Exit code 1 when fewer than 85 % of an area's changes were noticed.

const USAGE = `usage: npm run mutate -- [--area NAMES] [--every N] [--at-once N] [--json]

  --area NAMES  of ${AREAS.map((area) => area.name).join(', ')}, separated by commas; all without it
  --every N     only every n-th mutant
  --at-once N   test runs side by side, default 2
  --json        figures as JSON instead of tables
`;

const MIN_SCORE = 0.85;

const scoreOf = ({ killed, mutants }: MutationFigures): number => (mutants === 0 ? 1 : killed / mutants);

const lines = (figures: readonly MutationFigures[]): string[] =>
  tableLines(
    ['area', 'mutants', 'killed', 'of these, without an end', 'survived', 'impossible', 'score'],
    figures.map((each) => [
      each.area,
      String(each.mutants),
      String(each.killed),
      String(each.late),
      String(each.survivors.length),
      String(each.impossible),
      asPercent(scoreOf(each)),
    ]),
  );

await runCommand(USAGE, async ({ group }) => {
  const args = readArguments(process.argv.slice(2));
  await using opened = new AsyncDisposableStack();
  const { databaseUrl, redisUrl } = opened.use(await startThrowAwayServers(await group(), process.env));
  await createTemplate(databaseUrl, { roles: APP_ROLES, migrate });
  const progress = progressOn(process.stderr);
  let databases: Promise<Databases> | null = null;
  const figures: MutationFigures[] = [];
  for (const area of args.areas) {
    const of = await mutateArea({
      area,
      root,
      env: {
        ...process.env,
        TEST_DATABASE_URL: databaseUrl,
        TEST_TEMPLATE_DATABASE: TEMPLATE,
        TEST_REDIS_URL: redisUrl,
      },
      databases() {
        databases ??= openDatabases(databaseUrl, TEMPLATE).then((made) => opened.use(made));
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
  return figures.every((each) => scoreOf(each) >= MIN_SCORE) ? 0 : 1;
});

function readArguments(argv: readonly string[]) {
  const all = AREAS.map((area) => area.name);
  const options = parseOptions(argv, {
    area: { type: 'string', default: all.join(',') },
    every: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  });
  const chosen = names('area', options.area, all);
  return {
    areas: AREAS.filter(({ name }) => chosen.includes(name)),
    every: wholeNumber('--every', options.every, 1, 1_000),
    atOnce: wholeNumber('--at-once', options['at-once'], 1, 1_000),
    json: options.json,
  };
}
