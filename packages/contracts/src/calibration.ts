import { type Static, Type } from '@sinclair/typebox';
import { ASKING_ORDERS, ROSTER_PANELS } from './poll.ts';
import { Count, DateTime, literals, nullable, Probability } from './vocabulary.ts';

// What confidence said against what came true, over polls that were finished after their answer was delivered.

const Month = Type.String({ pattern: '^\\d{4}-\\d{2}$', description: 'In UTC.' });
const Evidence = (of: string) =>
  Type.Number({
    minimum: 0,
    description: `E-value of ${of}: 20 or more is strong evidence, at whatever moment it is read.`,
  });

const interval = {
  low: nullable(Type.Number({ minimum: 0, maximum: 1, description: 'Of the exact 95% interval of `came_true`.' })),
  high: nullable(Probability),
};

export const PublishedBand = Type.Object(
  {
    from: Probability,
    to: Probability,
    polls: Type.Integer({ minimum: 1 }),
    said: Type.Number({ minimum: 0, maximum: 1, description: 'Mean confidence.' }),
    came_true: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Share of its polls, each by the mean of its states, whose leader of then the whole panel elected.',
    }),
    ...interval,
    pooled: Type.Boolean({
      description:
        'Joined from neighbours that had too few polls of their own. A poll counts once in each of those that it was in; the interval is as wide as if each had been in all of them.',
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
      description: 'Polls that stopped on another winner than the whole panel elected.',
    }),
    allowed: Type.Number({
      minimum: 0,
      description: 'The most that may be wrong: one minus the threshold of each of these polls, summed.',
    }),
    evidence_kept: Evidence('the promise being kept, the least of those of each threshold'),
    evidence_broken: Evidence('the promise being broken, the mean of those of each threshold'),
  },
  { $id: 'CalibrationStops', description: 'Polls that stopped because their confidence reached their threshold.' },
);
export type CalibrationStops = Static<typeof CalibrationStops>;

const figures = {
  audits: Count,
  stops: Type.Ref(CalibrationStops),
  bands: Type.Array(Type.Ref(PublishedBand), { description: 'Of every state of these polls, from low to high.' }),
};

const Certificate = Type.Object({
  audits: Count,
  stops: Type.Integer({
    minimum: 0,
    description: 'Of these, stops on confidence; of panels that only a lock stops early, those.',
  }),
  wrong: Count,
  evidence_kept: Evidence('the promise being kept'),
  evidence_rise: Evidence('more wrong stops than promised since some moment'),
  certified: Type.Boolean(),
  alarmed: Type.Boolean(),
});

export const CalibrationVersion = Type.Object(
  {
    roster_version: Type.String(),
    preset: literals(ROSTER_PANELS),
    order: literals(ASKING_ORDERS, { description: 'How the roster file wants it asked.' }),
    search: Type.Boolean(),
    models: Type.Array(Type.String()),
    first_seen_at: DateTime,
    current: Type.Boolean({ description: 'Polls that are accepted now are asked with this version.' }),
    ...figures,
    few_options: Type.Union([Certificate, Type.Null()], {
      description:
        'Its audits with 2 or 3 options, replayed in its order at the default threshold: what the gate sees.',
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
        'Agreement beyond chance of each two models: 0 as often as by guessing, 1 always; null when unknown.',
    }),
    panels: Type.Array(
      Type.Object({
        preset: literals(ROSTER_PANELS),
        models: Count,
        effective_votes: nullable(
          Type.Number({ minimum: 0, description: 'As many independent voices as its models count like.' }),
        ),
      }),
    ),
  },
  { $id: 'CalibrationAgreement' },
);

export const PublishedCalibration = Type.Object(
  {
    simulated: Type.Boolean({ description: 'True when the models are simulated, and the figures with them.' }),
    confidence_threshold: Type.Number({ description: 'Of polls that set none.' }),
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
          description: 'Who says what was right: callers, about outcomes of their polls.',
        }),
        since: {
          ...DateTime,
          description:
            'When the oldest poll that was looked at ended: later than `days` say where more were run than are looked at.',
        },
        days: Count,
        judged: Count,
        right: Count,
        share: nullable(Probability),
        low: nullable(Probability),
        high: nullable(Probability),
      }),
      { description: 'Whether outcomes were right, which confidence says nothing about.' },
    ),
    generated_at: DateTime,
    cache_expires_at: DateTime,
  },
  { $id: 'PublishedCalibration' },
);

type Shape = Static<typeof PublishedCalibration>;
export interface CalibrationFigures {
  audits: number;
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
