import { isLostDeposit } from '@eloquentpoll/storage';
import { type Form, formsWith, type RepeatForm, repeatsWith } from './action-form.ts';
import type { Overview } from './overview.ts';
import { type DoneAction, doneText } from './page-done.ts';
import { STYLE } from './page-style.ts';
import { consoleTable, escaped, instant, raw } from './page-table.ts';

// The console's page, without scripts.

export interface ShownConsole {
  baseUrl: string;
  content: Overview;
  formToken: string;
  done: DoneAction | null;
}

export function page({ baseUrl, content, formToken, done }: ShownConsole): string {
  const { queue, flexQueue, fleet, running, buried, failed, controls } = content;
  const form = formsWith(formToken);
  const repeat = repeatsWith(formToken);
  const figures: [name: string, value: unknown, bad?: boolean][] = [
    ['waiting jobs', queue?.waiting],
    ['active jobs', queue?.active],
    ['waiting flex jobs', flexQueue?.waiting],
    ['oldest waits', queue?.oldestSeconds === null ? '-' : queue && `${queue.oldestSeconds} s`],
    ['polls held', fleet?.held],
    ['polls without a worker', fleet?.lapsed],
    ['overdue', fleet?.overdue, (fleet?.overdue ?? 0) > 0],
    ['dead letters', fleet?.buried, (fleet?.buried ?? 0) > 0],
    ['free pool', fleet && poolText(fleet.freePoolU)],
    ['ledger violations', fleet?.ledger?.violations ?? 'not checked yet', (fleet?.ledger?.violations ?? 0) > 0],
    [
      'free polls',
      controls && (controls.freePollsStopped ? 'stopped' : 'accepted'),
      controls?.freePollsStopped === true,
    ],
    ['polls', controls && (controls.pollsStopped ? 'stopped' : 'accepted'), controls?.pollsStopped === true],
    [
      'ledger checked',
      fleet?.ledger ? `${fleet.ledger.checkedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC` : '-',
    ],
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>EloquentPoll, operators</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head><body>
<header>EloquentPoll <span>operators · <a href="${escaped(baseUrl)}">${escaped(baseUrl)}</a></span></header>
<main>
<h1>Operators</h1>
${done ? doneText(done, content.log, repeat) : ''}
<dl>${figures.map(([name, value, bad]) => `<div><dt>${name}</dt><dd${bad ? ' class="bad"' : ''}>${escaped(String(value ?? 'no answer'))}</dd></div>`).join('')}</dl>
${consoleTable(
  'Dead letters: given up after too many attempts',
  ['poll', 'reason', 'claims', 'since', ''],
  buried,
  (one) => [
    one.pollId,
    one.reason,
    one.claims,
    instant(one.createdAt),
    raw(`${form('retry', String(one.letterId))} ${form('seen', String(one.letterId))}`),
  ],
)}
${consoleTable(
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
    one.worker === null ? '' : raw(form('release', one.pollId)),
  ],
)}
${consoleTable(
  'Failed and partial polls of the last day',
  ['poll', 'panel', 'by', 'status', 'ended', 'failed votes'],
  failed,
  (one) => [
    raw(`<a href="${escaped(`${baseUrl}/result/${one.resultId}`)}">${escaped(one.pollId)}</a>`),
    one.panel,
    one.entryPoint,
    one.status,
    instant(one.endedAt),
    one.errors || one.failedVotes,
  ],
)}
${moneyAndAccounts(content, form, repeat)}
<p class="none">What to do on an alarm: the runbook that it names, in infra/runbooks. The same actions from a shell: <code>console.js help</code>.</p>
</main>
</body></html>
`;
}

function moneyAndAccounts({ misfits, callers, log }: Overview, form: Form, repeat: RepeatForm): string {
  return `${consoleTable(
    'Money that no row explains, the oldest first',
    ['no.', 'from', 'reference', 'reason', 'USD', 'since', 'details', ''],
    misfits,
    (one) => [
      String(one.id),
      one.source,
      one.reference,
      one.reason,
      exactUsd(one.amountU),
      instant(one.firstSeenAt),
      namedTexts(one.details),
      raw(
        `${one.source === 'chain' && !isLostDeposit(one) ? form('match', String(one.id)) : ''} ${form('ignore', String(one.id))}`,
      ),
    ],
  )}
${consoleTable(
  'Whose questions make calls fail today',
  ['caller', 'account', 'refused', 'other failures', 'cost us, USD'],
  callers,
  (one) => [
    one.caller,
    one.accountId ?? '-',
    one.refusals,
    one.otherFailures,
    ((Number(one.faultU) - Number(one.chargedU)) / 1e6).toFixed(4),
  ],
)}
<div class="actions">
<section class="panel"><h2>The whole fleet</h2>${(['stop-free', 'resume-free', 'stop-all', 'resume-all'] as const).map((verb) => form(verb)).join('')}</section>
<section class="panel"><h2>An account</h2>${(['freeze', 'unfreeze', 'revoke', 'close'] as const).map((verb) => form(verb)).join('')}</section>
<section class="panel"><h2>Money</h2>${(['refund', 'refund-deposit', 'correct'] as const).map((verb) => form(verb)).join('')}</section>
</div>
${consoleTable(
  'What operators did, the newest first',
  ['when', 'who', 'what', 'about', 'why', 'outcome', 'facts', ''],
  log,
  (one) => [
    instant(one.at),
    one.operator,
    one.verb,
    one.subject,
    one.reason,
    one.outcome,
    namedTexts(one.facts),
    raw(repeat(one)),
  ],
)}`;
}

/** Null before the first free poll of the day. */
const poolText = (freePoolU: bigint | null): string =>
  freePoolU === null ? 'unused today' : `$${(Number(freePoolU) / 1e6).toFixed(2)}`;

const namedTexts = (texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** All six decimals that are not 0, at least two. */
function exactUsd(amountU: bigint): string {
  const [sign, digits] = amountU < 0n ? ['-', String(-amountU)] : ['', String(amountU)];
  const padded = digits.padStart(7, '0');
  const fraction = padded.slice(-6).replace(/0{1,4}$/, '');
  return `${sign}${padded.slice(0, -6)}.${fraction}`;
}
