import { readFile, writeFile } from 'node:fs/promises';
import { runCommand } from '../terminal/command.ts';
import { progressOn, silent } from '../terminal/progress.ts';
import { percent } from '../terminal/table.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { calibrationPlot } from './calibration-plot.ts';
import { checkVectors, type VectorFigures, vectorsPass } from './check-vectors.ts';
import { choosePanels } from './panels.ts';
import { type PanelFigures, replayPanel } from './replay-panel.ts';
import { panelReport, vectorReport } from './report.ts';
import { parseVoteFile } from './vote-file.ts';

// npm run replay: what the voting rules save and how often they are wrong, on recorded votes.

await runCommand(USAGE, () => replay(readArguments(process.argv.slice(2))));

async function replay(args: Arguments): Promise<number> {
  const vectors = args.vectors === undefined ? null : checkVectors(await readFile(args.vectors, 'utf8'), args.vectors);
  const panels = args.votes === undefined ? [] : await replayVotes(args.votes, args);
  if (args.svg !== undefined) await writeFile(args.svg, calibrationPlot(panels));
  process.stdout.write(args.json ? json(args, panels, vectors) : report(args, panels, vectors));
  return vectors === null || vectorsPass(vectors) ? 0 : 1;
}

async function replayVotes(path: string, { roster, threshold }: Arguments): Promise<PanelFigures[]> {
  const file = parseVoteFile(await readFile(path, 'utf8'), path);
  const figures: PanelFigures[] = [];
  const progress = process.stderr.isTTY ? progressOn(process.stderr) : silent;
  for (const chosen of choosePanels(roster, file.models)) {
    const watch = (steps: number) => {
      let done = 0;
      return () => progress.show(`${chosen.name}: ${percent(++done / steps, 0)}`);
    };
    figures.push(await replayPanel(file, chosen, threshold, watch));
  }
  progress.end();
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
