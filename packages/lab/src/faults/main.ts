// npm run chaos: real processes, real faults, and a verdict. Exit code 1 when anything that must hold did not.
import { type Arguments, type Experiment, parseArguments, USAGE, UsageError } from './arguments.ts';
import type { Servers } from './experiment.ts';
import { proofs } from './proofs.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    // The second time the watchdog tidies up alone.
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort(new Error('interrupted'));
  });

try {
  process.exitCode = await prove(parseArguments(process.argv.slice(2)));
} catch (error) {
  if (interrupted.signal.aborted) {
    console.error('interrupted; processes, database and keys of the experiment are gone');
    process.exitCode = 130;
  } else if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  } else throw error;
}

async function prove(args: Arguments): Promise<number> {
  const servers = serversOf(process.env);
  const figures: Partial<Record<Experiment, object>> = {};
  let holds = true;
  for (const name of args.only) {
    const proof = await proofs[name](args, servers, interrupted.signal);
    figures[name] = { holds: proof.holds, ...proof.figures };
    holds &&= proof.holds;
    if (!args.json) process.stdout.write(`${proof.lines.join('\n')}\n\n`);
  }
  if (args.json) process.stdout.write(`${JSON.stringify({ seed: args.seed, holds, ...figures }, null, 2)}\n`);
  else process.stdout.write(`seed ${args.seed}: ${holds ? 'everything held' : 'NOT everything held'}\n`);
  return holds ? 0 : 1;
}

function serversOf(env: NodeJS.ProcessEnv): Servers {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = env;
  if (!databaseUrl || !redisUrl) throw new UsageError('DATABASE_URL and REDIS_URL are not both set');
  return { databaseUrl, redisUrl };
}
