import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { beginAct, type EarlierAct, noteAct, type OperatorAct } from '@eloquentpoll/storage';
import type { OperatorsContext } from '../context.ts';
import { ACTIONS, type Verb } from './actions.ts';
import { type ActionField, type ActionResult, isOutcome, type OperatorAction, UUID } from './operator-action.ts';

// Checks an operator's request, logs who does what and why, performs the action, and logs its outcome. A request that
// is sent again under the id of a completed action gets that action's outcome.

export type Performed = { problem: string; isConflict?: boolean } | PerformedAction;

interface PerformedAction extends ActionResult {
  actionId: string;
  /** False if the log of operators could not be written: there the action is still begun. */
  isRecorded: boolean;
}

const MIN_REASON = 3;
const MAX_REASON = 500;
/** Longer than any action takes: an action without an outcome after this time was ended by a crash. */
const MAX_ACTION_S = 60;
/** How long a failed action may be repeated under its id, because the processor forgets ids after a day. */
const REPEATABLE_S = 12 * 3_600;
const TOO_OLD = 'It is too old to be repeated, and may have been done: look, then send it under a new id.';
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
  const id = form.get('id');
  const problem = problemWith({ operator, reason, fields, values, id });
  if (problem !== null) return { problem };

  const { subject = 'fleet' } = values;
  const given = withoutSubject(values);
  const act = { actionId: id ?? randomUUID(), operator, verb, subject, reason };
  const earlier = await beginAct(context.storage, act, given);
  const known = earlier && answerOf(earlier, { verb, subject, given });
  if (known) return 'problem' in known ? known : { ...known, actionId: act.actionId, isRecorded: true };
  const input = { actionId: act.actionId, isRepeat: earlier !== null, subject, values };
  const result = await attempt(context, action, input);
  const isRecorded = await record(context, act, { outcome: result.outcome, facts: { ...given, ...result.facts } });
  const { actionId } = act;
  const line = { action: verb, action_id: actionId, id: subject, operator, outcome: result.outcome };
  context.log.warn(line, 'console.action_performed');
  return { ...result, actionId, isRecorded };
}

/** An action that was done is answered as done even if this fails: an operator who reads that it failed does it again. */
async function record(
  { storage, log }: OperatorsContext,
  act: OperatorAct,
  { outcome, facts }: Required<ActionResult>,
): Promise<boolean> {
  try {
    await noteAct(storage, act, outcome, facts);
    return true;
  } catch (error) {
    log.error({ err: error, action: act.verb, action_id: act.actionId, outcome }, 'console.action_not_recorded');
    return false;
  }
}

/** Whether an action that is sent again under its id is performed again. */
export const isRepeatable = (outcome: string, ageS: number): boolean =>
  (outcome === 'begun' || outcome === 'failed') && ageS < REPEATABLE_S;

/** The answer to a repeated action; null if it may not have been completed. */
function answerOf(
  { outcome, ageS, ...earlier }: EarlierAct,
  sent: Pick<EarlierAct, 'verb' | 'subject' | 'given'>,
): Exclude<Performed, PerformedAction> | ActionResult | null {
  if (!isDeepStrictEqual({ ...sent }, { verb: earlier.verb, subject: earlier.subject, given: earlier.given }))
    return { problem: 'This id is that of another action: load the page again, or leave it out.', isConflict: true };
  if (outcome === 'begun' && ageS < MAX_ACTION_S)
    return { problem: `It is under way: look again after ${MAX_ACTION_S} s.`, isConflict: true };
  if (isRepeatable(outcome, ageS)) return null;
  if (outcome === 'begun' || outcome === 'failed') return { problem: TOO_OLD, isConflict: true };
  const facts = Object.entries(earlier.facts).filter(([name]) => !Object.hasOwn(earlier.given, name));
  return { outcome: isOutcome(outcome) ? outcome : 'failed', facts: Object.fromEntries(facts) };
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
  id: string | null;
}

function problemWith({ operator, reason, fields, values, id }: Sent): string | null {
  if (!NAME.test(operator)) return 'Say who you are: as the name beside the password, or in the header X-Operator.';
  if (reason.length < MIN_REASON || reason.length > MAX_REASON)
    return `Say why, in ${MIN_REASON} to ${MAX_REASON} characters.`;
  if (id !== null && !UUID.test(id)) return 'The id of an action is a UUID in small letters.';
  const wrong = fields.find(({ name, pattern, isOptional }) => {
    const value = values[name] ?? '';
    return value === '' ? isOptional !== true : !pattern.test(value);
  });
  return wrong ? `${wrong.label} (${wrong.name}) is missing or not of its form.` : null;
}

const withoutSubject = ({ subject: _subject, ...rest }: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''));
