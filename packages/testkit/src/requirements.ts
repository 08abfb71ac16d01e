import { ACCOUNT_ENDPOINTS } from './requirements/account-endpoints.ts';
import { ACCOUNT_SHAPES } from './requirements/account-shapes.ts';
import { DECISIONS } from './requirements/decisions.ts';
import { DISCOVERY_ENDPOINTS } from './requirements/discovery-endpoints.ts';
import { OVERVIEW } from './requirements/overview.ts';
import { POLL_SHAPES } from './requirements/poll-shapes.ts';
import { POLLING_ENDPOINTS } from './requirements/polling-endpoints.ts';
import { RESULT_ENDPOINTS } from './requirements/result-endpoints.ts';
import type { RequirementRow } from './requirements/row.ts';
import { RULES } from './requirements/rules.ts';
import { STATES } from './requirements/states.ts';

// Every promise of the specification, and of the decisions that complete it, is a row here. Tests cite the ids in their
// titles. test/requirements.test.ts refuses unknown ids and lists rows that no test cites.

/** All requirements, in the order of the specification. */
export const REQUIREMENTS: readonly RequirementRow[] = [
  ...OVERVIEW,
  ...POLL_SHAPES,
  ...ACCOUNT_SHAPES,
  ...STATES,
  ...POLLING_ENDPOINTS,
  ...RESULT_ENDPOINTS,
  ...ACCOUNT_ENDPOINTS,
  ...DISCOVERY_ENDPOINTS,
  ...RULES,
  ...DECISIONS,
];

/** `§4.1-poll-200` belongs to section `§4.1`. */
export const sectionOf = (id: string): string => id.slice(0, id.indexOf('-'));

export interface Citation {
  id: string;
  line: number;
}

/** The ids that a source cites in square brackets, several of them separated by commas or spaces. */
export function citationsIn(source: string): Citation[] {
  const found: Citation[] = [];
  for (const [index, text] of source.split('\n').entries())
    for (const match of text.matchAll(/\[(§[^\]]*)\]/g))
      for (const id of match[1]!.split(/[\s,]+/)) if (id !== '') found.push({ id, line: index + 1 });
  return found;
}
