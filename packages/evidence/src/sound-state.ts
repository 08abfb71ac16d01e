// Checks a stored state of an audit book, which may be damaged or written by others.
import type { AuditState } from './audit-book.ts';
import type { Trials } from './e-value.ts';
import type { StopLedger } from './stop-ledger.ts';

/** Null if a certificate cannot be read. Impossible situations are dropped. */
export function soundState(json: unknown): AuditState | null {
  if (!isObject(json) || !isLedger(json.few) || !isLedger(json.many) || !isObject(json.situations)) return null;
  const entries = Object.entries(json.situations).filter((entry): entry is [string, [number, number]] =>
    isOutcome(entry[1]),
  );
  return { few: json.few, many: json.many, situations: Object.fromEntries(entries) };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const isTrials = (value: unknown): value is Trials =>
  isObject(value) && isCount(value.trials) && isCount(value.hits) && value.hits <= value.trials;

const isLedger = (value: unknown): value is StopLedger =>
  isObject(value) &&
  isCount(value.audits) &&
  typeof value.isCertified === 'boolean' &&
  typeof value.isAlarmed === 'boolean' &&
  isTrials(value.stops) &&
  Array.isArray(value.blocks) &&
  value.blocks.every(isTrials);

function isOutcome(value: unknown): value is [number, number] {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [polls, won] = value as unknown[];
  return isCount(polls) && polls > 0 && isCount(won) && won <= polls;
}
