import { cpus, loadavg } from 'node:os';
import { startBundledServers } from '../fixture/bundled-servers.ts';
import { runCommand } from '../terminal/command.ts';
import { progressOn, silent } from '../terminal/progress.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { type BenchOptions, openBench } from './bench.ts';
import { gradeOf, type Line } from './bench-row.ts';
import { report } from './report.ts';

// npm run bench: every performance target beside its reference, measured in the same run on the same machine, on
// separate servers and the product as shipped. Exit code 1 if a mandatory target was missed.

await runCommand(USAGE, async ({ group, signal }) => {
  const args = readArguments(process.argv.slice(2));
  return measure(args, await startBundledServers(await group(), args), signal);
});

async function measure(args: Arguments, options: BenchOptions, signal: AbortSignal): Promise<number> {
  const { windows, windowMs } = args;
  const progress = args.json && !process.stderr.isTTY ? silent : progressOn(process.stderr);
  const disk = args.durable ? 'commits wait for the disk' : 'commits do not wait for the disk';
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  const loadBefore = loadavg()[0]!;
  await using bench = await openBench(options);
  const lines: (Line & { row: string })[] = [];
  for (const [place, row] of args.rows.entries()) {
    const where = `[${place + 1}/${args.rows.length}] ${row.id}`;
    progress.show(`${where}: getting ready`);
    const found = await row.measure(bench, {
      windows,
      windowMs,
      soakMinutes: args.soakMinutes,
      batch: args.batch,
      signal,
      onWindow: (done, of, name) => progress.show(`${where}: ${name}, measurement ${done + 1} of ${of}`),
    });
    lines.push(...found.map((line) => ({ row: row.id, ...line })));
    if (!args.json) for (const line of report(found).slice(1)) progress.note(line);
  }
  progress.end();
  const short = lines.filter((line) => gradeOf(line) === 'short');
  const about = { machine, disk, load_before: loadBefore, load_after: loadavg()[0], windows, window_ms: windowMs };
  if (args.json) {
    const figures = lines.map((line) => ({ ...line, verdict: gradeOf(line) }));
    process.stdout.write(`${JSON.stringify({ ...about, figures }, null, 2)}\n`);
  } else {
    const load = `load ${loadBefore.toFixed(1)} before, ${loadavg()[0]!.toFixed(1)} after`;
    process.stdout.write(
      `\n${report(lines).join('\n')}\n\n${machine}; ${load}; ${windows} windows of ${windowMs} ms, p25; ${disk}\n`,
    );
  }
  return short.length === 0 ? 0 : 1;
}
