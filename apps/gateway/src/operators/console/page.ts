import { type ActionOutcome, OUTCOMES } from './actions.ts';
import type { Overview } from './overview.ts';

// The console's page, without scripts.

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color-scheme: light dark }
table { border-collapse: collapse; width: 100% } caption { text-align: left; font-weight: 600; padding: 1.5rem 0 .25rem }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; vertical-align: top }
td.n { font-variant-numeric: tabular-nums } form { display: inline } .bad { color: #c62828; font-weight: 600 }
dl { display: flex; flex-wrap: wrap; gap: .25rem 2rem } dt { opacity: .7 } dd { margin: 0; font-weight: 600 }`;

export const styleSource = STYLE;

export function page(content: Overview, formToken: string, outcome: ActionOutcome | null): string {
  const { queue, fleet, running, buried, failed } = content;
  const button = (action: string, id: string, label: string): string =>
    `<form method="post" action="/admin/${action}/${escaped(id)}"><input type="hidden" name="form" value="${formToken}"><button>${label}</button></form>`;
  const figures: [name: string, value: unknown, bad?: boolean][] = [
    ['waiting jobs', queue?.waiting],
    ['active jobs', queue?.active],
    ['oldest waits', queue?.oldestSeconds === null ? '-' : queue && `${queue.oldestSeconds} s`],
    ['polls held', fleet?.held],
    ['polls without a worker', fleet?.lapsed],
    ['overdue', fleet?.overdue, (fleet?.overdue ?? 0) > 0],
    ['dead letters', fleet?.buried, (fleet?.buried ?? 0) > 0],
    ['free pool', fleet && `$${(Number(fleet.freePoolU) / 1e6).toFixed(2)}`],
    ['ledger violations', fleet?.ledger?.violations ?? 'not checked yet', (fleet?.ledger?.violations ?? 0) > 0],
    ['ledger checked', fleet?.ledger?.checkedAt.toISOString().slice(0, 19) ?? '-'],
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>EloquentPoll, operators</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head><body>
<h1>Operators</h1>
${outcome ? `<p role="status">${escaped(OUTCOMES[outcome])}</p>` : ''}
<dl>${figures.map(([name, value, bad]) => `<div><dt>${name}</dt><dd${bad ? ' class="bad"' : ''}>${escaped(String(value ?? 'no answer'))}</dd></div>`).join('')}</dl>
${table('Dead letters: given up after too many attempts', ['poll', 'reason', 'claims', 'since', ''], buried, (one) => [
  one.pollId,
  one.reason,
  one.claims,
  one.createdAt.toISOString(),
  raw(`${button('retry', String(one.letterId), 'Ask again')} ${button('seen', String(one.letterId), 'Put aside')}`),
])}
${table(
  'Running, the nearest deadline first',
  ['poll', 'panel', 'by', 'worker', 'epoch', 'claims', 'age', 'left', ''],
  running,
  (one) => [
    one.pollId,
    one.panel,
    one.entryPoint,
    one.worker ?? '-',
    one.epoch,
    one.claims,
    `${one.ageS} s`,
    `${one.leftS} s`,
    one.worker === null ? '' : raw(button('release', one.pollId, 'Take from its worker')),
  ],
)}
${table(
  'Failed and partial polls of the last day',
  ['poll', 'panel', 'by', 'status', 'ended', 'failed votes'],
  failed,
  (one) => [
    one.pollId,
    one.panel,
    one.entryPoint,
    one.status,
    one.endedAt.toISOString(),
    one.errors || one.failedVotes,
  ],
)}
</body></html>
`;
}

type Cell = string | number | Raw;

class Raw {
  readonly html: string;
  constructor(html: string) {
    this.html = html;
  }
}
const raw = (html: string): Raw => new Raw(html);

function table<T>(caption: string, heads: string[], rows: readonly T[] | null, cells: (row: T) => Cell[]): string {
  if (rows === null) return `<p class="bad">${escaped(caption)}: the store does not answer.</p>`;
  if (rows.length === 0) return `<p>${escaped(caption)}: none.</p>`;
  const head = heads.map((text) => `<th scope="col">${escaped(text)}</th>`).join('');
  const body = rows.map((row) => `<tr>${cells(row).map(cell).join('')}</tr>`).join('\n');
  return `<table><caption>${escaped(caption)}</caption><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table>`;
}

function cell(value: Cell): string {
  if (value instanceof Raw) return `<td>${value.html}</td>`;
  return `<td${typeof value === 'number' ? ' class="n"' : ''}>${escaped(String(value))}</td>`;
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
