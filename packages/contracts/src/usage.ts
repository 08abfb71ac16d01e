import { type Static, Type } from '@sinclair/typebox';
import { LIMIT_RESETS } from './account.ts';
import { LIMITS } from './limits.ts';
import { PANEL_NAMES } from './poll.ts';
import { CLOSE_CALL, Count, DateTime, literals, Milliseconds, nullable, Usd, Uuid } from './vocabulary.ts';

// What an account asked and was charged, by UTC day of the polls' end.

/** The group of polls without a key, and that of what is beyond a bound. */
export const NO_KEY = 'none';
export const OTHER_GROUPS = '(other)';

const MEDIAN = 'Median of completed polls, exact to 5 percent; null if there are none.';

const Figures = {
  polls: { ...Count, description: 'Polls that ended, with any status.' },
  completed: Count,
  failed: Count,
  canceled: { ...Count, description: 'Canceled polls; they are also counted as completed or failed.' },
  split_or_partial: { ...Count, description: CLOSE_CALL },
  cost_usd: { ...Usd, description: 'The amount charged, exactly as in the ledger.' },
  saved_usd: {
    ...Usd,
    description:
      'Estimated saving by stopping early: the usual cost of the models that were not asked, at the prices at which each poll was accepted. Counts only polls that ended by a lock or by confidence.',
  },
  median_ms: nullable({ ...Milliseconds, description: `Time from acceptance to the end. ${MEDIAN}` }),
  median_cost_usd: nullable({ ...Usd, description: MEDIAN }),
};

export const UsageFigures = Type.Object(Figures, { $id: 'UsageFigures' });
export type UsageFigures = Static<typeof UsageFigures>;

export const UsageGroup = Type.Object(
  {
    group: Type.String({
      description: `A day, the id of a key (\`${NO_KEY}\` for polls of a login), a preset, a surface, or a metadata value; \`${OTHER_GROUPS}\` for values beyond the maximum number of groups.`,
    }),
    label: Type.Optional(Type.String({ description: 'The label of the key.' })),
    ...Figures,
  },
  { $id: 'UsageGroup' },
);
export type UsageGroup = Static<typeof UsageGroup>;

const Day = Type.String({ format: 'date' });

export const UsageReport = Type.Object(
  {
    from: Day,
    to: { ...Day, description: 'The last day, inclusive.' },
    group_by: Type.String(),
    groups: Type.Array(Type.Ref(UsageGroup), {
      maxItems: LIMITS.usage.groups,
      description: 'Days in order of time; other groups by cost, the highest first.',
    }),
    total: { ...Type.Ref(UsageFigures), description: 'All polls that match the filters, including polls in no group.' },
    previous: {
      ...Type.Object({ from: Day, to: Day, ...Figures }),
      description: 'The total of an equally long period that ends before `from`.',
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
        description: '`day`, `key`, `preset`, `surface`, or `metadata.` followed by the key of a metadata pair.',
      }),
    ),
    from: Type.Optional({ ...Day, description: 'The first day, in UTC. Default: 29 days before `to`.' }),
    to: Type.Optional({ ...Day, description: 'The last day, inclusive. Default: today.' }),
    key_id: Type.Optional({ ...Uuid, description: 'Filters cannot be combined with groups by `metadata.`.' }),
    preset: Type.Optional(literals(PANEL_NAMES)),
    surface: Type.Optional(Type.String({ maxLength: 40 })),
    format: Type.Optional(literals(['json', 'csv'] as const, { description: 'Takes precedence over `Accept`.' })),
  },
  { additionalProperties: false },
);
export type UsageQuery = Static<typeof UsageQuery>;

/** The balance to the micro-USD, for any credentials. */
export const UsageBalance = Type.Object(
  {
    available_usd: Type.Number({
      description: 'Available for new polls; negative after a refund of money that was already spent.',
    }),
    reserved_usd: { ...Usd, description: 'Held for running polls, plus card payments held back until they settle.' },
    used_usd: { ...Usd, description: 'The total of all charges.' },
    low_balance_usd: nullable(Usd),
    is_low: Type.Boolean({
      description: 'Whether the balance, including holds of running polls, is below `low_balance_usd`.',
    }),
    key: Type.Union(
      [
        Type.Object({
          limit_usd: Usd,
          limit_reset: literals(LIMIT_RESETS),
          spent_usd: Usd,
          held_usd: Usd,
          left_usd: { ...Usd, description: 'The maximum that the next poll of the key may cost.' },
          resets_at: nullable(DateTime),
        }),
        Type.Null(),
      ],
      { description: 'The limit of the key that sent the request; null for a login and for a key without a limit.' },
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
        description: 'The balance counts as low if it is below this amount; null: never.',
      }),
    ),
  },
  { $id: 'LowBalance', additionalProperties: false },
);
export type LowBalance = Static<typeof LowBalance>;
