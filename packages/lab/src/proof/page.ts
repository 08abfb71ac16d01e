import { boundText, type Figure, figureOf, withCommas } from './figure.ts';
import type { ProofRow, ProofSection } from './proof-row.ts';
import type { CodeStanding, StandingOf } from './revisions.ts';
import type { Run } from './run.ts';

// docs/proof.md: one table of everything, then each promise with all that is known about it.

const HEAD = `# Proof: what was measured, and how to repeat it

Printed by \`npm run proof\`; do not edit it. Its sources: the promises in \`packages/lab/src/proof/rows/\`, the runs in \`docs/proofs/*.jsonl\`.
A new promise is a row there. A figure comes from \`npm run chaos|attack|fuzz|simulate -- --continue docs/proofs/runs.jsonl\`, or by
\`npm run proof -- --record ID --figure TEXT --command TEXT\`; then \`npm run proof\`.

Runs of all revisions add up, but where a fault that they found was mended: those before stand beside. The same seed at the same revision counts once. *At most*: the highest rate of failures that is believable at
95 % (Clopper and Pearson; without a failure in N trials about 3/N). A run that broke a rule makes its row short, whatever it counted. **Stale**: code that the row covers has changed since its newest run. All
machines had two cores unless a run says otherwise; \`full\` stands for \`ATTACKS=full npm test -- --timeout=3400\`, with files in
\`apps/gateway/test\` unless a path is given. [ATTACKS.md](../packages/lab/ATTACKS.md) lists which attack is answered where.
`;

const NO_GIT = '\nWhether rows are stale is not known: git was absent when this page was made.\n';

interface Shown {
  row: ProofRow;
  figure: Figure;
  standing: CodeStanding;
  /** How many of its runs are of the present code. */
  current: number;
}

export interface PageSources {
  sections: readonly ProofSection[];
  runs: readonly Run[];
  /** By the name of its file. */
  notes: ReadonlyMap<string, string>;
  /** Null where there is no git. */
  standingOf: StandingOf | null;
}

export async function proofPage({ sections, runs, notes, standingOf }: PageSources): Promise<string> {
  const shown = new Map<ProofRow, Shown>();
  for (const row of sections.flatMap(({ rows }) => rows)) shown.set(row, await shownRow(row, runs, standingOf));
  const all = [...shown.values()];
  const short = all.filter(({ figure }) => !figure.isReached).length;
  return [
    HEAD,
    `${all.length} promises, ${all.length - short} as promised, ${short} short of it.`,
    standingOf ? '' : NO_GIT,
    '| | promise | figure | at most | code |',
    '|---|---|---|---|---|',
    ...all.map(summaryLine),
    '',
    ...sections.flatMap(({ title, rows, notes: file }) => [
      `## ${title}`,
      '',
      ...rows.flatMap((row) => detailLines(shown.get(row)!)),
      ...(file ? [notes.get(file)!.trimEnd(), ''] : []),
    ]),
  ].join('\n');
}

async function shownRow(row: ProofRow, runs: readonly Run[], standingOf: StandingOf | null): Promise<Shown> {
  const figure = figureOf(row, runs);
  const standings = await Promise.all(
    figure.runs.map(
      ({ revision, code }) =>
        standingOf?.({ revision, digest: code?.[row.id] ?? null, paths: row.covers }) ?? ('unknown' as const),
    ),
  );
  const current = standings.filter((one) => one === 'current').length;
  const newest = figure.newest ? standings[figure.runs.indexOf(figure.newest)]! : 'unknown';
  return { row, figure, current, standing: current > 0 ? 'current' : newest };
}

const NAMES: Record<CodeStanding, string> = { current: 'as measured', stale: '**stale**', unknown: 'not known' };

function summaryLine({ row: { id, says }, figure, standing }: Shown): string {
  const { text, bound, isReached } = figure;
  const link = `[${id}](#${anchorOf(id, says)})`;
  return `| ${link} | ${cell(says)} | ${isReached ? '' : '**short:** '}${cell(text)} | ${boundText(bound)} | ${NAMES[standing]} |`;
}

/** As GitHub makes it of a heading. */
const anchorOf = (id: string, says: string): string =>
  `${id}: ${says}`
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const cell = (text: string): string => text.replaceAll('|', '\\|');

function detailLines({ row, figure, standing, current }: Shown): string[] {
  const { runs, newest, text, bound, missing, isReached, before, unheld } = figure;
  const { id, says, target, command, covers, short, mended } = row;
  const noted = runs.filter(
    (run) => !unheld.includes(run) && (run.note !== undefined || (row.rate === undefined && run !== newest)),
  );
  return [
    `### ${id}: ${says}`,
    '',
    `- Target: ${target}`,
    `- Figure: ${[text, bound === null ? '' : `at most ${boundText(bound).slice(2)} at 95 %`].filter(Boolean).join('; ')}${runsText(runs)}`,
    ...(isReached ? [] : [`- **Short${missing.length > 0 ? `, with ${missing.join(', ')}` : ''}**`]),
    ...(isReached || !short ? [] : [`  - Tried: ${short.tried}`, `  - It would take: ${short.takes}`]),
    ...(mended && before ? [`- Before ${mended.at.slice(0, 10)}: ${before}. Mended then: ${mended.what}`] : []),
    ...unheld.map((run) => `- ${whenOf(run)}, did not hold: ${run.note ?? run.figure ?? 'it does not say why'}`),
    ...noted.map((run) => `- ${whenOf(run)}: ${run.note ?? run.figure ?? ''}`),
    `- Command: ${command}`,
    `- Covers: ${covers.map((path) => `\`${path}\``).join(', ')}`,
    `- Code: ${NAMES[standing]}${standing === 'current' ? `, ${current} of its runs` : newest?.revision ? ` since ${newest.revision}` : ''}`,
    '',
  ];
}

const whenOf = ({ at, revision }: Run): string => `${at.slice(0, 10)}${revision ? `, ${revision}` : ''}`;

function runsText(runs: readonly Run[]): string {
  if (runs.length === 0) return '';
  const days = runs.map(({ at }) => at.slice(0, 10)).toSorted();
  const [first, last] = [days[0]!, days.at(-1)!];
  const many = runs.some(({ cores }) => cores !== 2) ? `, ${Math.max(...runs.map(({ cores }) => cores))} cores` : '';
  const newest = runs.findLast(({ revision }) => revision !== null)?.revision;
  return ` (${withCommas(runs.length)} ${runs.length === 1 ? 'run' : 'runs'}, ${first === last ? first : `${first} to ${last}`}${newest ? `, ${newest}` : ''}${many})`;
}

/** Without what depends on the history: what a commit changes by itself must not make the committed page wrong. */
export const withoutStandings = (page: string): string =>
  page
    .replace(NO_GIT, '')
    .split('\n')
    .map((line) => (line.startsWith('| [') ? line.replace(/ [^|]* \|$/, ' |') : line))
    .filter((line) => !line.startsWith('- Code: '))
    .join('\n');
