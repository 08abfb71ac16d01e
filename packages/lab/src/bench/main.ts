import { cpus, loadavg } from 'node:os';
import { progressOn, silent } from '../terminal/progress.ts';
import { type Arguments, parseArguments, USAGE, UsageError } from './arguments.ts';
import { report } from './report.ts';
import { type Line, verdictOf } from './rows.ts';
import { openStage, type StageOptions } from './stage.ts';

// npm run bench: every target of performance beside its anchor, measured in the same run on the same machine. Exit code 1
// when a target that must be met was not.

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (interrupted.signal.aborted) process.exit(130);
    interrupted.abort(new Error('interrupted'));
  });

try {
  process.exitCode = await bench(parseArguments(process.argv.slice(2)));
} catch (error) {
  if (interrupted.signal.aborted) {
    console.error('interrupted');
    process.exitCode = 130;
  } else if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  } else throw error;
}

async function bench(args: Arguments): Promise<number> {
  const { windows, windowMs } = args;
  const progress = args.json && !process.stderr.isTTY ? silent : progressOn(process.stderr);
  const disk = args.durable ? 'commits wait for the disk' : 'commits do not wait for the disk';
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  const loadBefore = loadavg()[0]!;
  await using stage = await openStage(options(process.env));
  const lines: (Line & { row: string })[] = [];
  for (const [place, row] of args.rows.entries()) {
    const where = `[${place + 1}/${args.rows.length}] ${row.id}`;
    progress.show(`${where}: getting ready`);
    const found = await row.measure(stage, {
      windows,
      windowMs,
      soakMinutes: args.soakMinutes,
      signal: interrupted.signal,
      onWindow: (done, of, name) => progress.show(`${where}: ${name}, measurement ${done + 1} of ${of}`),
    });
    lines.push(...found.map((line) => ({ row: row.id, ...line })));
    if (!args.json) for (const line of report(found).slice(1)) progress.note(line);
  }
  progress.end();
  const short = lines.filter((line) => verdictOf(line) === 'short');
  const about = { machine, disk, load_before: loadBefore, load_after: loadavg()[0], windows, window_ms: windowMs };
  if (args.json) {
    const figures = lines.map((line) => ({ ...line, verdict: verdictOf(line) }));
    process.stdout.write(`${JSON.stringify({ ...about, figures }, null, 2)}\n`);
  } else {
    const load = `load ${loadBefore.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after`;
    process.stdout.write(
      `\n${report(lines).join('\n')}\n\n${machine}; ${load}; ${windows} windows of ${windowMs} ms, p25; ${disk}\n`,
    );
  }
  return short.length === 0 ? 0 : 1;
}

function options(env: NodeJS.ProcessEnv): StageOptions {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, BUNDLES: bundles } = env;
  if (!databaseUrl || !redisUrl) throw new UsageError('DATABASE_URL and REDIS_URL are not both set');
  return { databaseUrl, redisUrl, bundles, nodeOptions: env.BENCH_NODE_OPTIONS };
}
