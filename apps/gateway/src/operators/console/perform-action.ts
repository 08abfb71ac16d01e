import { randomUUID } from 'node:crypto';
import { noteAct } from '@eloquentpoll/storage';
import type { OperatorsContext } from '../context.ts';
import { ACTIONS, type Verb } from './actions.ts';
import type { ActionField, ActionResult, OperatorAction } from './operator-action.ts';

// Checks what an operator sent, notes who does what and why, does it, and notes what became of it.

export type Performed = { problem: string } | ActionResult;

const MIN_REASON = 3;
const MAX_REASON = 500;
const NAME = /^[\w.@+ -]{1,100}$/;

export async function performAction(
  context: OperatorsContext,
  verb: Verb,
  { form, operator }: { form: URLSearchParams; operator: string },
): Promise<Performed> {
  const action: OperatorAction = ACTIONS[verb];
  const reason = (form.get('reason') ?? '').trim();
  const fields = action.subject ? [action.subject, ...action.fields] : action.fields;
  const values = Object.fromEntries(fields.map(({ name }) => [name, (form.get(name) ?? '').trim()]));
  const problem = problemWith({ operator, reason, fields, values });
  if (problem !== null) return { problem };

  const { subject = 'fleet' } = values;
  const act = { actionId: randomUUID(), operator, verb, subject, reason };
  await noteAct(context.storage, act, 'begun', withoutSubject(values));
  const result = await attempt(context, action, { actionId: act.actionId, subject, values });
  await noteAct(context.storage, act, result.outcome, { ...withoutSubject(values), ...result.facts });
  context.log.warn({ action: verb, id: subject, operator, outcome: result.outcome }, 'console.action_performed');
  return result;
}

async function attempt(
  context: OperatorsContext,
  action: OperatorAction,
  input: Parameters<OperatorAction['perform']>[1],
): Promise<ActionResult> {
  try {
    return await action.perform(context, input);
  } catch (error) {
    context.log.error({ err: error, action_id: input.actionId }, 'console.action_failed');
    return { outcome: 'failed' };
  }
}

interface Sent {
  operator: string;
  reason: string;
  fields: readonly ActionField[];
  values: Readonly<Record<string, string>>;
}

function problemWith({ operator, reason, fields, values }: Sent): string | null {
  if (!NAME.test(operator)) return 'Say who you are: as the name beside the password, or in the header X-Operator.';
  if (reason.length < MIN_REASON || reason.length > MAX_REASON)
    return `Say why, in ${MIN_REASON} to ${MAX_REASON} characters.`;
  const wrong = fields.find(({ name, pattern, isOptional }) => {
    const value = values[name] ?? '';
    return value === '' ? isOptional !== true : !pattern.test(value);
  });
  return wrong ? `${wrong.label} (${wrong.name}) is missing or not of its form.` : null;
}

const withoutSubject = ({ subject: _subject, ...rest }: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''));
