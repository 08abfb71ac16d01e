import { openBench } from '../bench/bench.ts';
import { startBundledServers } from '../fixture/bundled-servers.ts';
import { type CommandRun, runCommand } from '../terminal/command.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { checkHere } from './check-here.ts';
import { MEASURED } from './costs.ts';
import { planFor } from './plan.ts';
import { checkReport, growthReport } from './report.ts';

// npm run growth: what a given number of polls per second needs, based on the measured cost of one poll.

await runCommand(USAGE, (run) => growth(readArguments(process.argv.slice(2)), run));

async function growth(args: Arguments, run: CommandRun): Promise<number> {
  const check = args.check ? await measured(run) : null;
  const costs = check?.costs ?? MEASURED;
  const plans = args.rates.map((perSecond) => ({ perSecond, plan: planFor({ ...args.terms, costs, perSecond }) }));
  if (args.json) process.stdout.write(`${JSON.stringify({ terms: args.terms, check, plans }, null, 2)}\n`);
  else process.stdout.write((check ? checkReport(check) : '') + growthReport(plans));
  return 0;
}

async function measured({ group, signal }: CommandRun) {
  await using bench = await openBench(await startBundledServers(await group(), { durable: false }));
  return await checkHere(bench, signal);
}
