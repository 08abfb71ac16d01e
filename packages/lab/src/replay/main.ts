// npm run replay: what the voting rules save and how often they are wrong, on recorded votes.
import { readFile, writeFile } from 'node:fs/promises';
import { type Arguments, parseArguments, USAGE, UsageError } from './arguments.ts';
import { calibrationPlot } from './calibration-plot.ts';
import { checkVectors, type VectorFigures, VectorFileError, vectorsPass } from './check-vectors.ts';
import { choosePanels, PanelError } from './panels.ts';
import { progressBar } from './progress-bar.ts';
import { NothingToReplay, type PanelFigures, replayPanel } from './replay-panel.ts';
import { panelReport, vectorReport } from './report.ts';
import { parseVoteFile, VoteFileError } from './vote-file.ts';

try {
  process.exitCode = await replay(parseArguments(process.argv.slice(2)));
} catch (error) {
  if (!isExpected(error)) throw error;
  console.error(error.message);
  if (error instanceof UsageError) console.error(`\n${USAGE}`);
  process.exitCode = 1;
}

async function replay(args: Arguments): Promise<number> {
  const vectors = args.vectors === undefined ? null : checkVectors(await readFile(args.vectors, 'utf8'), args.vectors);
  const panels = args.votes === undefined ? [] : await replayVotes(args.votes, args);
  if (args.svg !== undefined) await writeFile(args.svg, calibrationPlot(panels));
  process.stdout.write(args.json ? json(args, panels, vectors) : report(args, panels, vectors));
  return vectors === null || vectorsPass(vectors) ? 0 : 1;
}

async function replayVotes(path: string, { panel, threshold }: Arguments): Promise<PanelFigures[]> {
  const file = parseVoteFile(await readFile(path, 'utf8'), path);
  const figures: PanelFigures[] = [];
  for (const chosen of choosePanels(panel, file.models)) {
    let bar: ReturnType<typeof progressBar> | undefined;
    const watch = (steps: number) => {
      bar = progressBar(chosen.name, steps, process.stderr);
      return bar.step;
    };
    figures.push(await replayPanel(file, chosen, threshold, watch));
    bar?.end();
  }
  return figures;
}

function report(args: Arguments, panels: readonly PanelFigures[], vectors: VectorFigures | null): string {
  const parts = panels.map((panel) => panelReport(panel, args.threshold));
  if (vectors !== null) parts.push(vectorReport(vectors));
  return parts.join('\n');
}

function json(args: Arguments, panels: readonly PanelFigures[], vectors: VectorFigures | null): string {
  const figures = { votes: args.votes ?? null, threshold: args.threshold, panels, vectors };
  return `${JSON.stringify(figures, null, 2)}\n`;
}

/** Errors that a better command line or file would avoid: one line says enough. */
function isExpected(error: unknown): error is Error {
  const known = [UsageError, VoteFileError, VectorFileError, PanelError, NothingToReplay];
  return known.some((kind) => error instanceof kind) || (error instanceof Error && 'code' in error && 'path' in error);
}
