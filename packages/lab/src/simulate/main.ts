// npm run simulate: polls in virtual time through the code that runs live ones. Exit code 1 on any violation.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { progressOn } from '../terminal/progress.ts';
import { percent, seconds, table } from '../terminal/table.ts';
import { RULES } from './judge-poll.ts';
import { type Simulation, simulatePolls } from './simulate-polls.ts';

const USAGE = `usage: npm run simulate -- [--polls N] [--seed TEXT] [--json]

  --polls N    default 100000
  --seed TEXT  repeats a simulation; a poll's own seed, such as SEED/17, is printed with each violation
  --json       figures as JSON instead of tables
`;

class UsageError extends Error {}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}

async function main(argv: readonly string[]): Promise<number> {
  const { polls: text, seed = randomBytes(4).toString('hex'), json } = parse(argv);
  const polls = Number(text);
  if (!Number.isInteger(polls) || polls < 1 || polls > 100_000_000)
    throw new UsageError(`--polls is a whole number from 1 to 100000000, not "${text}"`);
  const progress = progressOn(process.stderr);
  const begun = performance.now();
  const simulation = await simulatePolls(seed, polls, (done, violations) => {
    if (done % 256 !== 0) return;
    const rate = Math.round((1_000 * done) / (performance.now() - begun));
    progress.show(`${percent(done / polls)} of ${polls} polls, ${rate} polls/s, ${violations} violations`);
  });
  progress.end();
  process.stdout.write(json ? `${JSON.stringify(simulation, null, 2)}\n` : `${lines(simulation).join('\n')}\n`);
  return simulation.violations.length === 0 ? 0 : 1;
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      // A package runner hands its own separator on.
      args: argv[0] === '--' ? argv.slice(1) : [...argv],
      options: {
        polls: { type: 'string', default: '100000' },
        seed: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function lines(simulation: Simulation): string[] {
  const { seed, polls, tookMs, reasons, statuses, violations } = simulation;
  const names = [...RULES.map((rule) => rule.name), 'every poll ends', 'the same seed gives the same poll'];
  return [
    `Simulated polls with random prices, latencies, failures, budgets, hedges and deaths of workers: seed ${seed}, ` +
      `${polls} polls in ${seconds(tookMs, 0)}, ${Math.round((1_000 * polls) / tookMs)} polls/s`,
    '',
    ...table(
      ['figure', 'value'],
      [
        ['calls', String(simulation.calls)],
        ['ballots', String(simulation.ballots)],
        ['votes', String(simulation.votes)],
        ['workers that died', String(simulation.deaths)],
        ['calls repeated after a death', String(simulation.repeatedCalls)],
        ...Object.entries(reasons).map(([reason, count]) => [`ended by ${reason}`, String(count)]),
        ...Object.entries(statuses).map(([status, count]) => [status, String(count)]),
        ['captured, of all that was held', percent(simulation.capturedU / simulation.heldU)],
        ['polls that captured their max cost to the last micro-USD', String(simulation.spentToTheLimit)],
        ['polls played twice', String(simulation.replayed)],
      ],
    ),
    '',
    ...table(
      ['what must hold', 'violations'],
      names.map((name) => [name, String(violations.filter((violation) => violation.rule === name).length)]),
    ),
    ...violations.slice(0, 20).map(({ poll, rule, found }) => `  ${poll}: ${rule}: ${found}`),
  ];
}
