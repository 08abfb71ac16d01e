import { answerRules } from './rules/answer-rules.ts';
import { batchRules } from './rules/batch-rules.ts';
import { callRules } from './rules/call-rules.ts';
import { callerRules } from './rules/caller-rules.ts';
import { electionRules } from './rules/election-rules.ts';
import { moneyRules } from './rules/money-rules.ts';
import { pollRules } from './rules/poll-rules.ts';
import { priceRules } from './rules/price-rules.ts';
import type { CampaignRule } from './rules/rule.ts';
import { streamRules } from './rules/stream-rules.ts';

/** Rules for every campaign. They are pure functions, and each is tested with a history that breaks it. */
export const RULES_OF_ALL: readonly CampaignRule[] = [
  ...pollRules,
  ...callerRules,
  ...answerRules,
  ...streamRules,
  ...batchRules,
  ...moneyRules,
  ...priceRules,
  ...callRules,
  ...electionRules,
];
