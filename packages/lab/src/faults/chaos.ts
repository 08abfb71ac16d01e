import { type Arguments, type Experiment, parseArguments, USAGE, UsageError } from './arguments.ts';
import type { OwnServers } from './own-servers.ts';
import { proofs } from './proofs.ts';

// npm run chaos: real processes, real faults, and a verdict. The exit code is 1 when anything that must hold did not.

export async function main(argv: readonly string[], startServers: () => Promise<OwnServers>): Promise<number> {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      // The second time those who watch over the processes tidy up alone.
      if (interrupted.signal.aborted) process.exit(130);
      interrupted.abort(new Error('interrupted'));
    });
  try {
    const args = parseArguments(argv);
    return await prove(args, await startServers(), interrupted.signal);
  } catch (error) {
    if (interrupted.signal.aborted) {
      console.error('interrupted; processes, database and keys of the experiment are gone');
      return 130;
    }
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    return 2;
  }
}

async function prove(args: Arguments, servers: OwnServers, signal: AbortSignal): Promise<number> {
  const figures: Partial<Record<Experiment, object>> = {};
  const broken: Experiment[] = [];
  for (const name of args.only) {
    const proof = await proofs[name](args, servers, signal);
    figures[name] = { holds: proof.holds, ...proof.figures };
    if (!proof.holds) broken.push(name);
    if (!args.json) process.stdout.write(`${proof.lines.join('\n')}\n\n`);
  }
  const holds = broken.length === 0;
  if (args.json) process.stdout.write(`${JSON.stringify({ seed: args.seed, holds, ...figures }, null, 2)}\n`);
  else process.stdout.write(`seed ${args.seed}: ${holds ? 'everything held' : 'NOT everything held'}\n`);
  if (!holds) process.stderr.write(`again: ${commandOf({ ...args, only: broken })}\n`);
  return holds ? 0 : 1;
}

/** The command that makes the same choices. */
function commandOf({ only, seed, kills, stops, polls, outages, inFlight, workers, minutes }: Arguments): string {
  const settings = {
    only: only.join(','),
    seed,
    minutes,
    kills,
    stops,
    polls,
    outages,
    'in-flight': inFlight,
    workers,
  };
  const options = Object.entries(settings).map(([name, value]) => `--${name} ${value}`);
  return `npm run chaos -- ${options.join(' ')}`;
}
