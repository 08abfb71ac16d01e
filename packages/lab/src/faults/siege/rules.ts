import { callRules } from './rules/call-rules.ts';
import { callerRules } from './rules/caller-rules.ts';
import { moneyRules } from './rules/money-rules.ts';
import { pollRules } from './rules/poll-rules.ts';
import type { SiegeRule } from './rules/rule.ts';

// What must hold whatever strikes the service. A rule answers what contradicts it; an empty list is proof for this
// history. Pure, so that each is tested with a history that breaks it.

export const SIEGE_RULES: readonly SiegeRule[] = [...pollRules, ...callerRules, ...moneyRules, ...callRules];
