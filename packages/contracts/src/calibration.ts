import { type Static, Type } from '@sinclair/typebox';
import { ASKING_ORDERS, ROSTER_PANELS } from './poll.ts';
import { Count, DateTime, literals, nullable, Probability } from './vocabulary.ts';

// Stated confidence compared with how often it proved right, over audited polls.

const Month = Type.String({ pattern: '^\\d{4}-\\d{2}$', description: 'In UTC.' });
const Evidence = (of: string) =>
  Type.Number({
    minimum: 0,
    description: `E-value of the hypothesis that ${of}. 20 or more is strong evidence, however often it is read.`,
  });

const interval = {
  low: nullable(
    Type.Number({ minimum: 0, maximum: 1, description: 'Lower end of the exact 95% interval of `came_true`.' }),
  ),
  high: nullable(Probability),
};

export const PublishedBand = Type.Object(
  {
    from: Probability,
    to: Probability,
    polls: Type.Integer({ minimum: 1 }),
    said: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Mean confidence of these states.',
    }),
    came_true: Type.Number({
      minimum: 0,
      maximum: 1,
      description:
        'Share of polls whose leader at that moment the full panel elected. Each poll counts with its first state in this band.',
    }),
    ...interval,
    pooled: Type.Boolean({
      description:
        'Whether this band was merged from neighbouring bands with too few polls. A poll counts once in each of those bands that it was in; the interval is as wide as if every poll had been in all of them.',
    }),
  },
  { $id: 'PublishedBand' },
);
export type PublishedBand = Static<typeof PublishedBand>;

export const CalibrationStops = Type.Object(
  {
    polls: Count,
    said: nullable(Probability),
    came_true: nullable(Probability),
    ...interval,
    wrong: Type.Integer({
      minimum: 0,
      description: 'Polls that stopped with another winner than the full panel elected.',
    }),
    allowed: Type.Number({
      minimum: 0,
      description: 'How many of these polls may be wrong: the sum of 1 minus threshold.',
    }),
    evidence_kept: Evidence('the promise is kept (the minimum over groups of thresholds)'),
    evidence_broken: Evidence('the promise is broken (a weighted mean over groups of thresholds)'),
  },
  { $id: 'CalibrationStops', description: 'Polls that stopped because their confidence reached the threshold.' },
);
export type CalibrationStops = Static<typeof CalibrationStops>;

const figures = {
  audits: Count,
  drawn: Type.Integer({
    minimum: 0,
    description:
      'Polls that were drawn for an audit, without those whose audit is still waiting: `audits` plus `unmade`.',
  }),
  unmade: Type.Integer({
    minimum: 0,
    description:
      'Drawn polls whose audit could not be made: it did not fit into the daily budget, its poll was deleted, or no model answered.',
  }),
  stops: Type.Ref(CalibrationStops),
  bands: Type.Array(Type.Ref(PublishedBand), {
    description: 'Bands of confidence over all states of these polls, from low to high.',
  }),
};

const Certificate = Type.Object({
  audits: Count,
  stops: Type.Integer({
    minimum: 0,
    description:
      'How many of the audits stopped because of confidence, or, if only a lock stops polls of the panel early, because of a lock.',
  }),
  wrong: Count,
  evidence_kept: Evidence('the promise is kept'),
  evidence_rise: Evidence('at some moment more stops began to be wrong than promised'),
  certified: Type.Boolean(),
  alarmed: Type.Boolean(),
});

export const CalibrationVersion = Type.Object(
  {
    roster_version: Type.String(),
    preset: literals(ROSTER_PANELS),
    order: literals(ASKING_ORDERS, { description: 'The asking order in the roster file.' }),
    search: Type.Boolean(),
    models: Type.Array(Type.String()),
    first_seen_at: DateTime,
    current: Type.Boolean({ description: 'Whether polls accepted now use this version.' }),
    ...figures,
    few_options: Type.Union([Certificate, Type.Null()], {
      description:
        'What the gate evaluates: audits of polls with 2 or 3 options, replayed in this order at the default threshold.',
    }),
    many_options: Type.Union([Certificate, Type.Null()]),
  },
  { $id: 'CalibrationVersion' },
);

export const CalibrationAgreement = Type.Object(
  {
    learned_on: Type.String({ format: 'date' }),
    audits: Count,
    models: Type.Array(Type.String()),
    matrix: Type.Array(Type.Array(nullable(Type.Number())), {
      description:
        'Agreement of each pair of models, corrected for chance: 0 as often as by guessing, 1 always; null if unknown.',
    }),
    panels: Type.Array(
      Type.Object({
        preset: literals(ROSTER_PANELS),
        models: Count,
        effective_votes: nullable(
          Type.Number({ minimum: 0, description: 'How many independent votes the votes of the panel are worth.' }),
        ),
      }),
    ),
  },
  { $id: 'CalibrationAgreement' },
);

export const PublishedCalibration = Type.Object(
  {
    simulated: Type.Boolean({ description: 'Whether the models, and therefore the figures, are simulated.' }),
    confidence_threshold: Type.Number({ description: 'The default threshold, for polls that set none.' }),
    since: nullable(Month),
    ...figures,
    presets: Type.Array(Type.Object({ preset: literals(ROSTER_PANELS), ...figures })),
    orders: Type.Array(Type.Object({ order: literals(ASKING_ORDERS), ...figures })),
    months: Type.Array(Type.Object({ month: Month, ...figures })),
    versions: Type.Array(Type.Ref(CalibrationVersion)),
    agreement: Type.Union([Type.Ref(CalibrationAgreement), Type.Null()]),
    accuracy: Type.Array(
      Type.Object({
        source: literals(['feedback'], {
          description: 'Where the right answers come from: feedback of accounts about polls that they paid for.',
        }),
        since: {
          ...DateTime,
          description:
            'When the oldest evaluated poll ended. Later than `days` ago if there were more polls than are evaluated.',
        },
        days: Count,
        judged: Count,
        right: Count,
        accounts: Type.Integer({
          minimum: 0,
          description:
            'Accounts that gave it. `share` is the mean of their shares, and its interval counts each account once.',
        }),
        share: nullable(Probability),
        low: nullable(Probability),
        high: nullable(Probability),
      }),
      { description: 'How often outcomes were right. Confidence makes no statement about this.' },
    ),
    generated_at: DateTime,
    cache_expires_at: DateTime,
  },
  { $id: 'PublishedCalibration' },
);

type Shape = Static<typeof PublishedCalibration>;
export interface CalibrationFigures {
  audits: number;
  drawn: number;
  unmade: number;
  stops: CalibrationStops;
  bands: PublishedBand[];
}
export type CalibrationVersion = Omit<Static<typeof CalibrationVersion>, keyof CalibrationFigures> & CalibrationFigures;
export type CalibrationAgreement = Static<typeof CalibrationAgreement>;
type Grouped<K extends 'presets' | 'orders' | 'months'> = (Omit<Shape[K][number], keyof CalibrationFigures> &
  CalibrationFigures)[];
export type PublishedCalibration = Omit<
  Shape,
  keyof CalibrationFigures | 'presets' | 'orders' | 'months' | 'versions' | 'agreement'
> &
  CalibrationFigures & {
    presets: Grouped<'presets'>;
    orders: Grouped<'orders'>;
    months: Grouped<'months'>;
    versions: CalibrationVersion[];
    agreement: CalibrationAgreement | null;
  };
