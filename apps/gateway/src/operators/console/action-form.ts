import { randomUUID } from 'node:crypto';
import type { LoggedAct } from '@eloquentpoll/storage';
import { ACTIONS, isVerb, type Verb } from './actions.ts';
import type { ActionField, OperatorAction } from './operator-action.ts';
import { escaped } from './page-table.ts';
import { isRepeatable } from './perform-action.ts';

// Forms without scripts: a field for the reason is next to each button. Each form has the id of its action, so that a
// second click does nothing more.

export type Form = (verb: Verb, subject?: string) => string;

export const formsWith =
  (formToken: string): Form =>
  (verb, subject) => {
    const action: OperatorAction = ACTIONS[verb];
    const all = action.subject && subject === undefined ? [action.subject, ...action.fields] : action.fields;
    const known = subject === undefined ? '' : hidden('subject', subject);
    return `<form method="post" action="/admin/${verb}">${hidden('form', formToken)}${hidden('id', randomUUID())}${known}${all.map(input).join(' ')} ${input(REASON)} <button${GRAVE.has(verb) ? ' class="grave"' : ''}>${action.label}</button></form>`;
  };

/** Empty for an action that would not be performed again. */
export type RepeatForm = (act: LoggedAct) => string;

/** Sends an action again under its id, with its fields: until it has an outcome, its facts are what was given. */
export const repeatsWith =
  (formToken: string): RepeatForm =>
  ({ actionId, verb, subject, reason, outcome, at, facts }) => {
    if (!isVerb(verb) || !isRepeatable(outcome, (Date.now() - at.getTime()) / 1_000)) return '';
    const sent = Object.entries({ ...facts, form: formToken, id: actionId, subject, reason });
    const fields = sent.map(([name, value]) => hidden(name, value)).join('');
    return `<form method="post" action="/admin/${verb}">${fields}<button>Repeat under its id</button></form>`;
  };

/** Actions that take something away from callers are highlighted. */
const GRAVE: ReadonlySet<Verb> = new Set(['stop-free', 'stop-all', 'freeze', 'revoke', 'close']);

const REASON: ActionField = { name: 'reason', label: 'why', pattern: /.{3,500}/ };

const hidden = (name: string, value: string): string =>
  `<input type="hidden" name="${name}" value="${escaped(value)}">`;

const input = ({ name, label, pattern, isOptional }: ActionField): string => {
  const form = pattern.source.replace(/^\^|\$$/g, '').replaceAll('"', '&quot;');
  return `<input name="${name}" placeholder="${escaped(label)}" aria-label="${escaped(label)}" pattern="${form}"${isOptional ? '' : ' required'}>`;
};
