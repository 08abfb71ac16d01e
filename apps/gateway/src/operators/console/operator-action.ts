import type { OperatorsContext } from '../context.ts';

// An action of an operator: its fields, which are checked before anything happens, and a closed list of outcomes.

export const OUTCOMES = {
  released: 'The lease was released; another worker continues the poll.',
  retried: 'A new poll was started at our expense. Its result is in the history of the same account.',
  seen: 'The dead letter was marked as seen.',
  gone: 'Nothing to do: it is not there, it has ended, or another operator was faster.',
  no_money: 'The free pool, which pays for retries, is used up for today.',
  frozen: 'The account is frozen: its keys and logins are refused, its running polls end.',
  unfrozen: 'The account can be used again.',
  closed: 'The account is closed: it is forgotten, its results are gone; its ledger stays.',
  revoked: 'All keys and logins of the account were ended.',
  refunded: 'The money goes back, and was taken from the account.',
  too_much: 'That is more than is left of the payment.',
  corrected: 'The ledger is corrected by an entry for each amount.',
  no_amount: 'Nothing to do: both amounts are 0.',
  matched: 'The transfer was credited.',
  ignored: 'It is not looked at any more.',
  not_by_hand: 'A card payment is matched by the comparison with the processor; ignore it, or correct the ledger.',
  stopped: 'Stopped, for all gateways.',
  resumed: 'Goes on, for all gateways.',
  not_configured: 'There is no payment processor here.',
  failed: 'It did not work, or the answer was lost; the log says why. Repeat it only under its id, which does it once.',
} as const;
/** Said beside the outcome of an action that could not be recorded. */
export const NOT_RECORDED =
  'The log of operators could not be written, and shows it as begun. Repeat it under its id after a minute: it is done once, and recorded.';
export type ActionOutcome = keyof typeof OUTCOMES;

export const isOutcome = (text: string): text is ActionOutcome => Object.hasOwn(OUTCOMES, text);

export interface ActionField {
  name: string;
  label: string;
  pattern: RegExp;
  isOptional?: boolean;
}

export interface ActionInput {
  /** Sent with the action. It identifies the effect in the ledger and at the processor, so a repetition has none. */
  actionId: string;
  /** The action was begun under this id before, and may have been completed. */
  isRepeat: boolean;
  subject: string;
  /** The other fields; optional ones that were left out are empty. */
  values: Readonly<Record<string, string>>;
}

export interface ActionResult {
  outcome: ActionOutcome;
  /** Facts for the log of operators; never a question, key or e-mail address. */
  facts?: Record<string, string>;
}

export interface OperatorAction {
  label: string;
  /** What the action applies to; null for the whole fleet. */
  subject: ActionField | null;
  fields: readonly ActionField[];
  perform(context: OperatorsContext, input: ActionInput): Promise<ActionResult>;
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const uuid = (label: string): ActionField => ({ name: 'subject', label, pattern: UUID });

export const OF_ACCOUNT = uuid('account id');
export const OF_CHECKOUT = uuid('checkout id');
export const OF_DEPOSIT = uuid('deposit id');
export const OF_POLL: ActionField = { name: 'subject', label: 'poll id', pattern: /^ps_[\w-]{1,60}$/ };
export const OF_ROW: ActionField = { name: 'subject', label: 'number', pattern: /^\d{1,18}$/ };

/** Card payments have cents. */
export const centsField = (name: string, label: string): ActionField => ({
  name,
  label: `${label}, USD`,
  pattern: /^\d{1,6}(\.\d{1,2})?$/,
});
/** Ledger and USDC have six decimals. */
export const usdField = (name: string, label: string): ActionField => ({
  name,
  label: `${label}, USD`,
  pattern: /^\d{1,6}(\.\d{1,6})?$/,
});
/** Micro-USD of the text of a `usdField`. */
export function microUsdOfText(text: string): bigint {
  const [dollars = '', fraction = ''] = text.split('.');
  return BigInt(dollars + fraction.padEnd(6, '0'));
}

export const otherAccount = (label: string): ActionField => ({
  name: 'account',
  label,
  pattern: UUID,
  isOptional: true,
});
