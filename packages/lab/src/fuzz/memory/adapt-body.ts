import type { Draws } from './draws.ts';
import { HOSTILE_TEXTS } from './hostile-answers.ts';

// Adapts a good body to its caller: names and labels contain the caller's mark, models are those of the service, and
// hostile texts are put in all text fields if wanted.

export interface Adaptation {
  readonly models: readonly string[];
  readonly isHostile: boolean;
  readonly draws: Draws;
}

/** Texts that only the account itself may see. */
const PRIVATE = new Set(['label', 'description', 'custom_id', 'name']);
const FREE = new Set(['question', 'prompt', 'q', 'notes', 'system', 'content', 'text', 'gold', 'reason', ...PRIVATE]);

export function adapted(value: unknown, adaptation: Adaptation): unknown {
  if (Array.isArray(value)) return value.map((item) => adapted(item, adaptation));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, memberOf(name, member, adaptation)]));
}

function memberOf(name: string, member: unknown, adaptation: Adaptation): unknown {
  const { models, isHostile, draws } = adaptation;
  if (name === 'metadata' && typeof member === 'object') return pairs(adaptation);
  if (name === 'models' && Array.isArray(member) && !draws.oneIn(6))
    return Array.from({ length: 3 + draws.below(2) }, (_, i) => models[(i * 7 + draws.below(5)) % models.length]);
  if (name === 'url' || name === 'webhook_url') return draws.oneIn(8) ? member : '{{receiver}}';
  if (name === 'options' && Array.isArray(member) && isHostile)
    return member.map((option: unknown, i) => (draws.oneIn(3) ? option : `${i} ${draws.of(HOSTILE_TEXTS)}`));
  if (typeof member !== 'string' || !FREE.has(name)) return adapted(member, adaptation);
  const text = isHostile && draws.oneIn(2) ? `${draws.of(HOSTILE_TEXTS)}${member}`.slice(0, 180) : member;
  return PRIVATE.has(name) ? `${[...text].slice(0, 44).join('')}{{mark}}` : text;
}

/** Metadata: a name that is reused, so that lists can be filtered by it, and the mark of the account. */
function pairs({ isHostile, draws }: Adaptation): Record<string, string> {
  const hostile = isHostile ? { [draws.of(HOSTILE_TEXTS).slice(0, 40)]: draws.of(HOSTILE_TEXTS) } : {};
  return { team: '{{mark}}', ...(draws.oneIn(2) && { name: `batch {{mark}}` }), ...hostile };
}
