import type { BatchReport, BatchRun } from '../eloquentpoll.ts';
import { pause } from '../pause.ts';
import { beginBatch, exitOfBatch, followBatch, type MakingCommand, outOf, saveResults, summaryOf } from './batch.ts';
import type { BatchInput } from './batch-input.ts';
import { reportLines } from './eval-report.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { costText, plural } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { plain } from './plain-text.ts';
import { overviewOf, type RowsOverview } from './rows-overview.ts';
import { columnsOf, print, styleOf } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Runs rows with known answers and reports how often they were answered right, by model, threshold and confidence. */
export async function evalCommand(invocation: Invocation, command: MakingCommand): Promise<Exit> {
  const { terminal, json } = invocation;
  const out = outOf(command);
  const run = await beginBatch(invocation, command, out, (input) => isWanted(invocation, command, input));
  if (!run) return EXIT.usage;
  invocation.heard.batchId = run.id;
  if (command.detach) {
    print(terminal.out, json ? jsonText(await run.status({ signal: terminal.signal })) : plain(run.id));
    return EXIT.winner;
  }
  const batch = await followBatch(invocation, run, command.name, ({ has_gold }) => {
    if (!has_gold) throw new UsageError(`${run.id} has no right answers: add the field gold to its rows.`);
  });
  // Standard output is for the report.
  const lines = out === '-' ? 0 : await saveResults(invocation, run, { out, total: batch.counts.total });
  const report = await completeReport(run, terminal.signal);
  if (json) print(terminal.out, jsonText(report));
  else {
    const [summary = '', ...rest] = summaryOf(invocation, { ...batch, has_gold: false }, out, lines);
    print(terminal.out, summary, ...rest, '', ...reportLines(report, columnsOf(terminal), styleOf(terminal)));
  }
  const exit = exitOfBatch(batch);
  return exit === EXIT.winner && !report.complete ? EXIT.partial : exit;
}

/**
 * Prints the estimated cost, and asks if a person can answer. Rows without known answers are refused before they cost
 * anything.
 */
async function isWanted(invocation: Invocation, command: MakingCommand, { rows }: BatchInput): Promise<boolean> {
  const { terminal, json } = invocation;
  const { source } = command;
  if (source.kind === 'batch') return true;
  const { file, format } = source;
  const overview = await overviewOf(rows, format);
  if (!overview.hasGold) {
    const name = file === '-' ? 'Standard input' : file;
    const where = format === 'csv' ? 'a column gold' : 'a field "gold" in its rows';
    throw new UsageError(`${name} has no right answers: add ${where}, or run it with batch.`);
  }
  if (!json) print(terminal.err, await costLine(invocation, command, overview));
  // If the rows come from standard input, it cannot be used for an answer.
  if (command.yes || json || !terminal.ask || file === '-') return true;
  const answer = await terminal.ask('Run it? [y/N] ');
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

async function costLine(
  { polls, terminal }: Invocation,
  { terms }: MakingCommand,
  { rows, withGold, options, hasTerms }: RowsOverview,
): Promise<string> {
  const { preset, confidence_threshold, max_cost_usd, reasons } = terms;
  const asked = {
    ...(preset && { preset }),
    ...(options !== null && { options }),
    ...(confidence_threshold !== undefined && { confidence_threshold }),
    ...(reasons && { reasons }),
    service_tier: 'flex' as const,
  };
  const { cost_usd } = await polls.estimate(asked, { signal: terminal.signal });
  const gold = withGold === null || withGold === rows ? '' : `, ${withGold} with right answers`;
  const expected = `about ${costText(rows * cost_usd.expected)}, ${costText(rows * cost_usd.max)} if no poll stops early`;
  const others = hasTerms ? '; rows with settings of their own may cost more' : '';
  // The estimate is for texts of usual length, so only the limit is a promise.
  const most = max_cost_usd === undefined ? '; --max-cost sets a limit' : `; never more than ${costText(max_cost_usd)}`;
  return `${plural(rows, 'row')}${gold}, at the flex price: ${expected}${others}${most}`;
}

const REPORT_EVERY_MS = 1_000;
const REPORT_TRIES = 60;

/** The report is complete shortly after the batch has ended. */
async function completeReport(run: BatchRun, signal: AbortSignal): Promise<BatchReport> {
  for (let tries = 1; ; tries++) {
    const report = await run.report({ signal });
    if (report.complete || tries === REPORT_TRIES) return report;
    await pause(REPORT_EVERY_MS, signal);
  }
}
