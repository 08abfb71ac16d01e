import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { throwAwayStores } from '../faults/throw-away.ts';
import { progressOn } from '../terminal/progress.ts';
import { table } from '../terminal/table.ts';
import { type FuzzReport, runFuzz } from './run-fuzz.ts';

// npm run fuzz: hostile requests to every operation, until one is answered wrongly. Exit code 1 when one was.

interface Servers {
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

const USAGE = `usage: npm run fuzz -- [--runs N] [--sequences N] [--operation TEXT] [--seed N] [--real-limits] [--json]

  --runs N          inputs per operation, default 1100
  --sequences N     sequences of requests that build on each other, default 200
  --operation TEXT  only operations whose name, such as "POST /api/poll", holds this
  --seed N          repeats a run
  --real-limits     with the rate limits of production instead of none
  --json            figures as JSON instead of tables
`;

class UsageError extends Error {}

/** The exit code. `servers` may hold other things; what is made there is removed. */
export async function main(argv: readonly string[], servers: () => Promise<Servers>): Promise<number> {
  try {
    return await fuzz(parse(argv), await servers());
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

async function fuzz(args: ReturnType<typeof parse>, { databaseUrl, redisUrl }: Servers): Promise<number> {
  const progress = progressOn(process.stderr);
  await using stores = await throwAwayStores(databaseUrl, redisUrl);
  const report = await runFuzz({
    databaseUrl: stores.databaseUrl,
    redisUrl: stores.redisUrl,
    redisPrefix: stores.redisPrefix,
    seed: args.seed === undefined ? randomInt(2 ** 31) : number('--seed', args.seed),
    runs: number('--runs', args.runs),
    sequences: number('--sequences', args.sequences),
    only: args.operation,
    realLimits: args['real-limits'],
    onInput: (inputs) => progress.show(`${inputs} inputs`),
  });
  progress.end();
  process.stdout.write(args.json ? `${JSON.stringify(report, null, 2)}\n` : `${lines(report).join('\n')}\n`);
  return report.findings.length === 0 ? 0 : 1;
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      // A package runner hands its own separator on.
      args: argv[0] === '--' ? argv.slice(1) : [...argv],
      options: {
        runs: { type: 'string', default: '1100' },
        sequences: { type: 'string', default: '200' },
        operation: { type: 'string' },
        seed: { type: 'string' },
        'real-limits': { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function number(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 2 ** 31)
    throw new UsageError(`${option} is a whole number, not "${text}"`);
  return value;
}

function lines(report: FuzzReport): string[] {
  const { operations, findings, heapMb } = report;
  const counts = (statuses: Readonly<Record<string, number>>) =>
    Object.entries(statuses)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', ');
  return [
    ...table(
      ['operation', 'inputs', 'slowest', 'statuses'],
      operations.map(({ operation, inputs, slowestMs, statuses }) => [
        operation,
        String(inputs),
        `${slowestMs} ms`,
        counts(statuses),
      ]),
      [0, 3],
    ),
    '',
    `${report.inputs} inputs to ${operations.length} operations and ${report.sequences} sequences of ` +
      `${report.requestsInSequences} requests in ${report.seconds} s; ${report.logLines} log lines read`,
    `heap ${heapMb.early} MB early, ${heapMb.end} MB at the end; RSS ${report.rssMb} MB; ${report.handles} handles`,
    ...findings.map(({ where, problem, reproduction }) => `\n${where}\n  ${problem}\n  ${reproduction}`),
    '',
    `seed ${report.seed}: ${findings.length} unexpected answers`,
  ];
}
