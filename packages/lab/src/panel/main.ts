import { readFile } from 'node:fs/promises';
import { namedPanels } from '../replay/panels.ts';
import { parsePriceFile, pricesByModel } from '../replay/price-file.ts';
import { parseVoteFile } from '../replay/vote-file.ts';
import { runCommand } from '../terminal/command.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { judgePanels, knownPanels } from './judge-panels.ts';
import { panelsReport } from './report.ts';

// npm run panel: which models are worth asking together, on recorded votes with right answers.

await runCommand(USAGE, () => panel(readArguments(process.argv.slice(2))));

async function panel({ votes, prices, roster, sizes, json, 'price-set': set }: Arguments): Promise<number> {
  const file = parseVoteFile(await readFile(votes, 'utf8'), votes);
  const judged = judgePanels({
    file,
    prices: prices === undefined ? null : pricesByModel(parsePriceFile(await readFile(prices, 'utf8'), prices), set),
    sizes,
    named: roster === undefined ? knownPanels(file) : namedPanels(roster, file.models),
  });
  process.stdout.write(json ? `${JSON.stringify({ votes, panels: judged }, null, 2)}\n` : panelsReport(judged));
  return 0;
}
