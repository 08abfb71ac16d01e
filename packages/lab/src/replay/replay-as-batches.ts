import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { openStores } from '../fixture/stores.ts';
import { progressOn, silent } from '../terminal/progress.ts';
import { asPercent } from '../terminal/table.ts';
import type { Arguments } from './arguments.ts';
import { reportOfVotes } from './batch-of-votes.ts';
import { comparedAsAsked, comparedToProof, comparisonTable, differs } from './compare-report.ts';
import { namedPanels } from './panels.ts';
import { type PriceFile, pricesOf } from './price-file.ts';
import { recordedPolls } from './recorded-poll.ts';
import type { VoteFile } from './vote-file.ts';

/** Each panel as two batches: asked until nothing could change the answer, and asked with the threshold. */
export async function replayAsBatches(
  args: Arguments,
  file: VoteFile,
  prices: PriceFile | null,
  group: ProcessGroup,
): Promise<number> {
  await using servers = await startThrowAwayServers(group, process.env);
  await using stores = await openStores(servers);
  const progress = process.stderr.isTTY ? progressOn(process.stderr) : silent;
  let isEqual = true;
  for (const panel of namedPanels(args.roster, file.models)) {
    const asking = { order: args.order, prices: prices && pricesOf(prices, args['price-set'], panel) };
    const polls = recordedPolls(file, panel, asking);
    let done = 0;
    const onPoll = () => progress.show(`${panel.name}: ${asPercent(++done / (2 * polls.length), 0)}`);
    const proven = await reportOfVotes(stores.storage, polls, 1, onPoll);
    const asked = await reportOfVotes(stores.storage, polls, args.threshold, onPoll);
    const figures = [...comparedToProof(polls, proven), ...comparedAsAsked(polls, args.threshold, asked)];
    isEqual &&= !figures.some(differs);
    process.stdout.write(
      args.json
        ? `${JSON.stringify({ panel: panel.name, figures, reports: { proven, asked } })}\n`
        : `${panel.name}: ${polls.length} polls\n${comparisonTable(figures)}\n`,
    );
  }
  progress.end();
  return isEqual ? 0 : 1;
}
