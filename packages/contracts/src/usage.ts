import { type Static, Type } from '@sinclair/typebox';
import { LIMIT_RESETS } from './account.ts';
import { LIMITS } from './limits.ts';
import { PANEL_NAMES } from './poll.ts';
import { CLOSE_CALL, Count, DateTime, literals, Milliseconds, nullable, Usd, Uuid } from './vocabulary.ts';

// What an account asked and was charged, by UTC day of the polls' end.

/** The group of polls without a key, and that of what is beyond a bound. */
export const NO_KEY = 'none';
export const OTHER_GROUPS = '(other)';

const MEDIAN = 'Of completed polls, within 5 percent; null where there is none.';

const Figures = {
  polls: { ...Count, description: 'That ended, whatever they came to.' },
  completed: Count,
  failed: Count,
  canceled: { ...Count, description: 'Of both, those that were canceled.' },
  split_or_partial: { ...Count, description: CLOSE_CALL },
  cost_usd: { ...Usd, description: 'What was charged, exactly as in the ledger.' },
  saved_usd: {
    ...Usd,
    description:
      'An estimate of what stopping early saved: what the models that were not asked would usually have cost, at the prices of when each poll was accepted. Only polls count that ended by a lock or by confidence.',
  },
  median_ms: nullable({ ...Milliseconds, description: `From acceptance to the end. ${MEDIAN}` }),
  median_cost_usd: nullable({ ...Usd, description: MEDIAN }),
};

export const UsageFigures = Type.Object(Figures, { $id: 'UsageFigures' });
export type UsageFigures = Static<typeof UsageFigures>;

export const UsageGroup = Type.Object(
  {
    group: Type.String({
      description: `A day, the id of a key (\`${NO_KEY}\` for polls of a login), a preset, a surface, or a value of the metadata; \`${OTHER_GROUPS}\` for what is beyond a bound.`,
    }),
    label: Type.Optional(Type.String({ description: 'Of a key.' })),
    ...Figures,
  },
  { $id: 'UsageGroup' },
);
export type UsageGroup = Static<typeof UsageGroup>;

const Day = Type.String({ format: 'date' });

export const UsageReport = Type.Object(
  {
    from: Day,
    to: { ...Day, description: 'The last day, included.' },
    group_by: Type.String(),
    groups: Type.Array(Type.Ref(UsageGroup), {
      maxItems: LIMITS.usage.groups,
      description: 'Days in their order; others by cost, the largest first.',
    }),
    total: { ...Type.Ref(UsageFigures), description: 'Of all polls of the filters, also those in no group.' },
    previous: {
      ...Type.Object({ from: Day, to: Day, ...Figures }),
      description: 'The same of as many days before `from`.',
    },
  },
  { $id: 'UsageReport' },
);
export type UsageReport = Static<typeof UsageReport>;

export const UsageQuery = Type.Object(
  {
    group_by: Type.Optional(
      Type.String({
        pattern: `^(day|key|preset|surface|metadata\\..{1,${LIMITS.metadata.key}})$`,
        default: 'day',
        description: '`day`, `key`, `preset`, `surface`, or `metadata.` and the name of a label.',
      }),
    ),
    from: Type.Optional({ ...Day, description: 'A UTC day. Without it, 29 days before `to`.' }),
    to: Type.Optional({ ...Day, description: 'The last day, included; today without it.' }),
    key_id: Type.Optional({ ...Uuid, description: 'Filters do not go with `metadata.`.' }),
    preset: Type.Optional(literals(PANEL_NAMES)),
    surface: Type.Optional(Type.String({ maxLength: 40 })),
    format: Type.Optional(literals(['json', 'csv'] as const, { description: 'Wins over `Accept`.' })),
  },
  { additionalProperties: false },
);
export type UsageQuery = Static<typeof UsageQuery>;

/** The balance to the micro-USD, for any credentials. */
export const UsageBalance = Type.Object(
  {
    available_usd: Type.Number({ description: 'What new polls can use; below zero after a refund of spent money.' }),
    reserved_usd: { ...Usd, description: 'Set aside for running polls, and held back until card payments settle.' },
    used_usd: { ...Usd, description: 'All that was ever charged.' },
    low_balance_usd: nullable(Usd),
    is_low: Type.Boolean({
      description: 'Less than `low_balance_usd` is left, counting what running polls have set aside as still there.',
    }),
    key: Type.Union(
      [
        Type.Object({
          limit_usd: Usd,
          limit_reset: literals(LIMIT_RESETS),
          spent_usd: Usd,
          held_usd: Usd,
          left_usd: { ...Usd, description: 'What its next poll may cost at most.' },
          resets_at: nullable(DateTime),
        }),
        Type.Null(),
      ],
      { description: 'The limit of the key that asks; null for a login and for a key without one.' },
    ),
  },
  { $id: 'UsageBalance' },
);
export type UsageBalance = Static<typeof UsageBalance>;

export const LowBalance = Type.Object(
  {
    low_balance_usd: nullable(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: LIMITS.low_balance_usd,
        description: 'From below this much on, the balance counts as low; null: never.',
      }),
    ),
  },
  { $id: 'LowBalance', additionalProperties: false },
);
export type LowBalance = Static<typeof LowBalance>;
