import { close, freeze, revoke, unfreeze } from './account-actions.ts';
import { resumeAll, resumeFree, stopAll, stopFree } from './control-actions.ts';
import { correct, ignore, match, refund, refundDeposit } from './money-actions.ts';
import type { OperatorAction } from './operator-action.ts';
import { release, retry, seen } from './poll-actions.ts';

/** By verb: the path is `/admin/<verb>`, and the verb is also the command in console.js. */
export const ACTIONS = {
  release,
  retry,
  seen,
  freeze,
  unfreeze,
  close,
  revoke,
  refund,
  'refund-deposit': refundDeposit,
  correct,
  match,
  ignore,
  'stop-free': stopFree,
  'resume-free': resumeFree,
  'stop-all': stopAll,
  'resume-all': resumeAll,
} as const satisfies Record<string, OperatorAction>;
export type Verb = keyof typeof ACTIONS;

/** For the operators' command line. */
export const describedActions = () =>
  Object.entries<OperatorAction>(ACTIONS).map(([verb, { label, subject, fields }]) => ({
    verb,
    label,
    fields: [...(subject ? [subject] : []), ...fields].map(({ name, label, isOptional = false }) => ({
      name,
      label,
      isOptional,
    })),
  }));

export const isVerb = (text: string): text is Verb => Object.hasOwn(ACTIONS, text);
