import { root } from '@eloquentpoll/launch/folders';
import { createTemplate, grantLedgerToTests, TEMPLATE } from '@eloquentpoll/services/databases';
import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { APP_ROLES, migrate } from '@eloquentpoll/storage';
import { chromiumForTests } from '@eloquentpoll/testkit/bring-chromium';
import { continueFile, repeatedBy } from '../proof/continued.ts';
import { names, parseOptions, runCommand, UsageError, wholeNumber } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { asPercent, tableLines } from '../terminal/table.ts';
import { AREAS, type Area } from './areas.ts';
import { type Databases, openDatabases } from './databases.ts';
import { type MutantsPart, type MutationFigures, mutateArea } from './mutate-area.ts';

// npm run mutate: small wrong changes in the code that decides about votes, money, keys and repeated requests, each of
// which a test must detect. Exit code 1 if too many changes of an area survive.

const USAGE = `usage: npm run mutate -- [--area NAMES] [--part I/N] [--at-once N] [--continue FILE] [--json]

  --area NAMES  of ${AREAS.map((area) => area.name).join(', ')}, separated by commas; all without it
  --part I/N    every N-th mutant from the I-th on: N parts are all of them; default 1/1
  --at-once N   test runs side by side, default 2
  --continue FILE  adds the run to those in the file (docs/proofs/runs.jsonl)
  --json        figures as JSON instead of tables
`;

const scoreOf = ({ killed, mutants }: MutationFigures): number => (mutants === 0 ? 1 : killed / mutants);

const lines = (figures: readonly MutationFigures[]): string[] =>
  tableLines(
    ['area', 'mutants', 'killed', 'of these, without an end', 'survived', 'impossible', 'equivalent', 'score'],
    figures.map((each) => [
      each.area,
      String(each.mutants),
      String(each.killed),
      String(each.late),
      String(each.survivors.length),
      String(each.impossible),
      String(each.equivalent),
      asPercent(scoreOf(each)),
    ]),
  );

await runCommand(USAGE, async ({ group }) => {
  const argv = process.argv.slice(2);
  const args = readArguments(argv);
  const seed = `${args.part.number}/${args.part.of}`;
  const kept = args.runFile === null ? null : await continueFile(args.runFile, repeatedBy('mutate', argv));
  for (const { name } of args.areas) kept?.refuseRepeated(experimentOf(name), seed);
  await using opened = new AsyncDisposableStack();
  const { databaseUrl, redisUrl } = opened.use(await startThrowAwayServers(await group(), process.env));
  await createTemplate(databaseUrl, {
    roles: APP_ROLES,
    async migrate(url) {
      await migrate(url);
      await grantLedgerToTests(url);
    },
  });
  const browser = await chromiumForTests(process.env);
  const progress = progressOn(process.stderr);
  let databases: Promise<Databases> | null = null;
  const figures: MutationFigures[] = [];
  for (const area of args.areas) {
    const of = await mutateArea({
      area,
      root,
      env: {
        ...process.env,
        ...browser,
        TEST_DATABASE_URL: databaseUrl,
        TEST_TEMPLATE_DATABASE: TEMPLATE,
        TEST_REDIS_URL: redisUrl,
      },
      databases() {
        databases ??= openDatabases(databaseUrl, TEMPLATE).then((made) => opened.use(made));
        return databases;
      },
      atOnce: args.atOnce,
      part: args.part,
      onVerdict: ({ killed, survivors }, left) =>
        progress.show(`${area.name}: ${killed} killed, ${survivors.length} survived, ${left} left`),
      // At once, so that a run that is broken off has shown them.
      onSurvivor: (label) => progress.note(`  survived: ${label}`),
    });
    figures.push(of);
    progress.end();
    const counts = { mutants: of.mutants, survivors: of.survivors.length, equivalent: of.equivalent };
    const sums = await kept?.add({ experiment: experimentOf(area.name), seed, holds: isEnough(area, of), counts });
    if (!args.json) for (const line of sums ?? []) console.log(line);
  }
  console.log(args.json ? JSON.stringify(figures, null, 2) : lines(figures).join('\n'));
  return args.areas.every((area, i) => isEnough(area, figures[i]!)) ? 0 : 1;
});

function experimentOf(area: string): string {
  return `mutate ${area}`;
}

function isEnough(area: Area, figures: MutationFigures): boolean {
  return scoreOf(figures) >= 1 - area.maxSurviving;
}

function partOf(text: string): MutantsPart {
  const [number, of] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).slice(1).map(Number);
  if (number && of && number <= of) return { number, of };
  throw new UsageError(`--part is a part of all such as 2/8, not "${text}"`);
}

function readArguments(argv: readonly string[]) {
  const all = AREAS.map((area) => area.name);
  const options = parseOptions(argv, {
    area: { type: 'string', default: all.join(',') },
    part: { type: 'string', default: '1/1' },
    'at-once': { type: 'string', default: '2' },
    continue: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  const chosen = names('area', options.area, all);
  return {
    areas: AREAS.filter(({ name }) => chosen.includes(name)),
    part: partOf(options.part),
    runFile: options.continue ?? null,
    atOnce: wholeNumber('--at-once', options['at-once'], 1, 1_000),
    json: options.json,
  };
}
