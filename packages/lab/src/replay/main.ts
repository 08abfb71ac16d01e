import { readFile, realpath, writeFile } from 'node:fs/promises';
import { type CommandRun, runCommand } from '../terminal/command.ts';
import { progressOn, silent } from '../terminal/progress.ts';
import { asPercent } from '../terminal/table.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { calibrationPlot } from './calibration-plot.ts';
import { checkVectors, type VectorFigures, vectorsPass } from './check-vectors.ts';
import { type LiveFigures, liveReport, playLive } from './live-report.ts';
import { namedPanels } from './panels.ts';
import { type PriceFile, parsePriceFile, pricesOf } from './price-file.ts';
import { replayAsBatches } from './replay-as-batches.ts';
import { type ReplayFigures, replayPanel } from './replay-panel.ts';
import { panelReport, vectorReport } from './report.ts';
import { parseVoteFile, type VoteFile } from './vote-file.ts';

// npm run replay: what the voting rules save and how often they are wrong, on recorded votes.

await runCommand(USAGE, ({ group }) => replay(readArguments(process.argv.slice(2)), group));

async function replay(args: Arguments, group: CommandRun['group']): Promise<number> {
  const vectors = args.vectors === undefined ? null : checkVectors(await readFile(args.vectors, 'utf8'), args.vectors);
  if (args.live !== null && args.votes !== undefined) return await live(args.votes, args.live, args);
  if (args.batch && args.votes !== undefined)
    return await replayAsBatches(args, await readVotes(args.votes), await readPrices(args), await group());
  const panels = args.votes === undefined ? [] : await replayVotes(args.votes, args);
  if (args.svg !== undefined) await writeFile(args.svg, calibrationPlot(panels));
  process.stdout.write(args.json ? json(args, panels, vectors) : report(args, panels, vectors));
  return vectors === null || vectorsPass(vectors) ? 0 : 1;
}

async function replayVotes(path: string, args: Arguments): Promise<ReplayFigures[]> {
  const { roster, threshold, order } = args;
  const file = await readVotes(path);
  const record = await readRecord(args, path, file);
  const priceFile = await readPrices(args);
  const figures: ReplayFigures[] = [];
  const progress = process.stderr.isTTY ? progressOn(process.stderr) : silent;
  for (const chosen of namedPanels(roster, file.models)) {
    const watch = (steps: number) => {
      let done = 0;
      return () => progress.show(`${chosen.name}: ${asPercent(++done / steps, 0)}`);
    };
    const prices = priceFile && pricesOf(priceFile, args['price-set'], chosen);
    figures.push(await replayPanel({ file, threshold, order, prices, record }, chosen, watch));
  }
  progress.end();
  return figures;
}

async function live(path: string, polls: number, args: Arguments): Promise<number> {
  const file = await readVotes(path);
  const priceFile = parsePriceFile(await readFile(args.prices!, 'utf8'), args.prices!);
  const figures: LiveFigures[] = namedPanels(args.roster, file.models).map((panel) =>
    playLive(file, panel, pricesOf(priceFile, args['price-set'], panel), polls),
  );
  process.stdout.write(
    args.json ? `${JSON.stringify({ votes: path, polls, panels: figures }, null, 2)}\n` : liveReport(figures),
  );
  return 0;
}

async function readPrices({ prices }: Arguments): Promise<PriceFile | null> {
  return prices === undefined ? null : parsePriceFile(await readFile(prices, 'utf8'), prices);
}

async function readVotes(path: string): Promise<VoteFile> {
  return parseVoteFile(await readFile(path, 'utf8'), path);
}

/** Returns `file` itself if both paths lead to the same file. */
async function readRecord({ record }: Arguments, votes: string, file: VoteFile): Promise<VoteFile | null> {
  if (record === undefined) return null;
  const [one, other] = await Promise.all([realpath(record), realpath(votes)]);
  return one === other ? file : readVotes(record);
}

function report(args: Arguments, panels: readonly ReplayFigures[], vectors: VectorFigures | null): string {
  const parts = panels.map((panel) => panelReport(panel, args.threshold));
  if (vectors !== null) parts.push(vectorReport(vectors));
  return parts.join('\n');
}

function json(args: Arguments, panels: readonly ReplayFigures[], vectors: VectorFigures | null): string {
  const figures = { votes: args.votes ?? null, threshold: args.threshold, panels, vectors };
  return `${JSON.stringify(figures, null, 2)}\n`;
}
