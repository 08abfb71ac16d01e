import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { startBundledServers } from '../fixture/bundled-servers.ts';
import { continueFile, repeatedBy } from '../proof/continued.ts';
import { presentRevision } from '../proof/revisions.ts';
import { number, parseOptions, runCommand } from '../terminal/command.ts';
import { progressOn, silent } from '../terminal/progress.ts';
import { verdictLine } from '../terminal/verdict-line.ts';
import { type AlarmsOfDay, readAlarms } from './alarms.ts';
import { readBoard } from './board-panels.ts';
import { countsOfDay } from './counts-of-day.ts';
import { dayPage, stoppedLines, wayLines } from './day-page.ts';
import { panelsOfSamples } from './day-panels.ts';
import { drawBoard } from './draw-board.ts';
import { type LivedDay, liveDay } from './live-day.ts';
import { boundsOfDay } from './verdict.ts';

// npm run day: a day of the whole service in some minutes, with a verdict. Exit code 1 if a bound was violated.

const USAGE = `usage: npm run day -- [--minutes N] [--load SHARE] [--seed TEXT] [--docs] [--no-browser] [--record FILE]
                       [--continue FILE] [--json]

  --minutes N      how long the day takes, default 5; two hours is the whole of it
  --load SHARE     of the machine's CPU, load and models included, default .6
  --seed TEXT      draws the questions and what users do; a new one without it
  --docs           writes docs/day.md and docs/day.svg
  --no-browser     leaves out the person at the playground, who needs a Chromium
  --record FILE    every sample, one JSON object a line
  --continue FILE  adds the run to those in the file (docs/proofs/runs.jsonl)
  --json           figures as JSON instead of tables

Everything that is needed is started for it and gone afterwards; Prometheus comes from the package archive of the system.
`;

const BROWSER_EVERY_MS = 20_000;
const MAX_SAMPLES = 480;
const MIN_SAMPLE_MS = 5_000;
const SCRAPE_S = 15;

function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    minutes: { type: 'string', default: '5' },
    load: { type: 'string', default: '.6' },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    docs: { type: 'boolean', default: false },
    'no-browser': { type: 'boolean', default: false },
    record: { type: 'string' },
    continue: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  return {
    ...options,
    minutes: number('--minutes', options.minutes, 0.1, 1_440),
    load: number('--load', options.load, 0.05, 0.9),
  };
}

await runCommand(USAGE, async ({ group, signal }) => {
  const argv = process.argv.slice(2);
  const args = readArguments(argv);
  const { minutes, load, seed } = args;
  const kept = args.continue === undefined ? null : await continueFile(args.continue, repeatedBy('day', argv));
  kept?.refuseRepeated('day', seed);
  const own = await group();
  const servers = await startBundledServers(own, { durable: true });
  const plan = {
    ...{ minutes, load, seed },
    ...{ people: { byWallet: 12, byLogin: 4 }, instances: 2, scrapeEveryS: Math.min(SCRAPE_S, Math.ceil(minutes * 3)) },
    sampleEveryMs: Math.max(MIN_SAMPLE_MS, (minutes * 60_000) / MAX_SAMPLES),
    browserEveryMs: args['no-browser'] ? 0 : BROWSER_EVERY_MS,
  };
  let alarms: AlarmsOfDay | null = null;
  const day = await liveDay(plan, {
    ...{ group: own, servers, signal },
    progress: args.json && !process.stderr.isTTY ? silent : progressOn(process.stderr),
    async atEnd(lived) {
      const span = { from: lived.startedAt, to: lived.endedAt };
      const { prometheus } = lived.service;
      alarms = prometheus && (await readAlarms(prometheus.url, span));
      if (args.docs && prometheus) await writeDocs(lived, alarms, repeatedBy('day', argv));
    },
  });
  if (args.record !== undefined) await writeSamples(args.record, day);

  const bounds = boundsOfDay(day, alarms);
  const holds = bounds.every((bound) => bound.holds);
  const [figure, counts] = [figureOf(day), countsOfDay(day, alarms, bounds)];
  const sums = await kept?.add({ experiment: 'day', seed, holds, counts, figure });
  if (args.json)
    process.stdout.write(
      `${JSON.stringify({ seed, holds, figure, counts, stopped: day.end.stopped, bounds, wrong: day.diary.wrong }, null, 2)}\n`,
    );
  else {
    const lines = bounds.map(({ says, found, holds }) => `${holds ? 'held  ' : 'BROKEN'}  ${says}: ${found}`);
    const wrong = day.diary.wrong.map((problem) => `  wrong: ${problem}`);
    const broken = bounds.filter((bound) => !bound.holds).map(({ says }) => says);
    const verdict = `seed ${seed}: ${verdictLine(broken)}`;
    process.stdout.write(
      `${[...wayLines(day), '', ...stoppedLines(day), '', ...lines, ...wrong, '', ...(sums ?? []), verdict].join('\n')}\n`,
    );
  }
  return holds ? 0 : 1;
});

function figureOf({ plan, end }: LivedDay): string {
  return `${end.polls.toLocaleString('en-US')} polls in ${plan.minutes} minutes at ${Math.round(100 * plan.load)} %`;
}

async function writeDocs(day: LivedDay, alarms: AlarmsOfDay | null, command: string): Promise<void> {
  const { prometheus } = day.service;
  const span = { from: day.startedAt, to: day.endedAt };
  const sections = [panelsOfSamples(day), ...(await readBoard(prometheus!.url, span))];
  const title = `A normal day in ${day.plan.minutes} minutes, at ${Math.round(100 * day.plan.load)} % of the machine`;
  const subtitle = `${day.startedAt.toISOString().slice(0, 16).replace('T', ' ')} to ${day.endedAt.toISOString().slice(11, 16)} UTC; panels of infra/monitoring/board.json by their own queries, Prometheus ${prometheus!.version}`;
  await writeFile(join(root, 'docs/day.svg'), drawBoard(title, subtitle, sections, span));
  const bounds = boundsOfDay(day, alarms);
  const page = {
    day,
    bounds,
    command,
    revision: await presentRevision(root),
    versions: `Prometheus ${prometheus!.version}`,
  };
  await writeFile(join(root, 'docs/day.md'), dayPage(page));
}

async function writeSamples(file: string, { samples }: LivedDay): Promise<void> {
  const stream = createWriteStream(file);
  for (const sample of samples) stream.write(`${JSON.stringify(sample)}\n`);
  await new Promise<void>((resolve) => stream.end(() => resolve()));
}
