import { type Exit, exitOfOutcome } from './exit-codes.ts';
import { type Invocation, resultPage } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { picture, votesFor } from './picture.ts';
import { plain, wrap } from './plain-text.ts';
import { facts, reasons, remarks, type ShownOutcome, verdictLines } from './summary.ts';
import { canDraw, columnsOf, linkOf, print, programOf, styleOf, type Terminal } from './terminal.ts';

/** Prints a finished poll: as JSON, with bars, or as lines, the first of which is the outcome. */
export function showOutcome(outcome: ShownOutcome, invocation: Invocation): Exit {
  const { terminal, json } = invocation;
  if (json) print(terminal.out, jsonText(outcome));
  else print(terminal.out, ...(canDraw(terminal) ? withBars(outcome, invocation) : asLines(outcome, invocation)));
  return exitOfOutcome(outcome);
}

function asLines(outcome: ShownOutcome, { siteUrl, terminal }: Invocation): string[] {
  const { headline, under } = verdictLines(outcome);
  const counts = outcome.options.map(
    (option) => `${String(votesFor(outcome.tally, option)).padStart(4)}  ${plain(option)}`,
  );
  return [
    headline,
    ...under,
    ...counts,
    ...reasons(outcome),
    facts(outcome),
    resultPage(siteUrl, outcome.poll_id),
    verifyHint(outcome, terminal),
    ...remarks(outcome),
  ];
}

const verifyHint = ({ poll_id }: ShownOutcome, terminal: Terminal): string =>
  `Check its receipt: ${programOf(terminal)} verify ${plain(poll_id)}`;

const spaced = (lines: string[]): string[] => (lines.length === 0 ? [] : [...lines, '']);

function withBars(outcome: ShownOutcome, { terminal, siteUrl }: Invocation): string[] {
  const { question, options, tally, votes, models_skipped, winning_option: leader } = outcome;
  const columns = columnsOf(terminal);
  const ink = styleOf(terminal);
  const { headline, under } = verdictLines(outcome);
  const indented = (text: string) => wrap(text, columns - 2).map((line) => `  ${line}`);
  const standings = {
    options,
    tally,
    leader,
    total: votes.length + models_skipped,
    failed: votes.filter(({ success }) => !success).length,
  };
  return [
    ...(question === null ? [] : [...wrap(plain(question), columns).map(ink.bold), '']),
    ...indented(headline).map(ink.bold),
    ...under.flatMap(indented),
    '',
    ...picture(standings, columns, ink),
    '',
    ...spaced(reasons(outcome).flatMap(indented)),
    ...[facts(outcome), ...remarks(outcome)].flatMap(indented).map(ink.dim),
    `  ${linkOf(terminal, resultPage(siteUrl, outcome.poll_id))}`,
    ink.dim(`  ${verifyHint(outcome, terminal)}`),
  ];
}
