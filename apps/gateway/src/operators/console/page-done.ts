import type { LoggedAct } from '@eloquentpoll/storage';
import type { RepeatForm } from './action-form.ts';
import { type ActionOutcome, NOT_RECORDED, OUTCOMES } from './operator-action.ts';
import { escaped } from './page-table.ts';

// What the page says after an action. The other forms of the page have new ids: a refund that is sent by one of them is
// a second refund. So an action that failed or was not recorded is offered again under its own id.

export interface DoneAction {
  outcome: ActionOutcome;
  /** The id under which the action may be repeated; null if there is no need to. */
  again: string | null;
}

export function doneText({ outcome, again }: DoneAction, log: LoggedAct[] | null, repeat: RepeatForm): string {
  const said = `<p role="status">${escaped(OUTCOMES[outcome])}`;
  if (again === null) return `${said}</p>`;
  const act = log?.find(({ actionId }) => actionId === again);
  const form = act ? repeat(act) : 'The log of operators does not show it now: load this page again.';
  return `${said}${outcome === 'failed' ? '' : ` ${escaped(NOT_RECORDED)}`} Its id is ${again}.</p>${form}`;
}
