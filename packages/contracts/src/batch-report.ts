import { type Static, Type } from '@sinclair/typebox';
import { PublishedBand } from './calibration.ts';
import { PANEL_NAMES } from './poll.ts';
import { Count, DateTime, literals, nullable, Probability, Usd } from './vocabulary.ts';

// What the rows of a batch came to, judged by the right answers that were sent with them. Every share has its interval.

export const MeasuredShare = Type.Object(
  {
    count: Count,
    of: Count,
    share: nullable(Probability),
    low: nullable(
      Type.Number({ minimum: 0, maximum: 1, description: 'Of the exact 95% interval; null without rows.' }),
    ),
    high: nullable(Probability),
  },
  { $id: 'MeasuredShare' },
);
export type MeasuredShare = Static<typeof MeasuredShare>;

export const MeasuredMean = Type.Object(
  { mean: nullable(Type.Number()), low: nullable(Type.Number()), high: nullable(Type.Number()) },
  { $id: 'MeasuredMean', description: 'With its 95% interval; null where there are too few rows for one.' },
);
export type MeasuredMean = Static<typeof MeasuredMean>;

const Share = Type.Ref(MeasuredShare);
const Mean = Type.Ref(MeasuredMean);

const Band = Type.Object({
  from: Probability,
  to: Probability,
  said: Type.Number({ minimum: 0, maximum: 1, description: 'Mean over its polls.' }),
  right: Share,
});

/** What a choice cost and how often it was right. */
const worth = {
  accuracy: Type.Union([Share, Type.Null()]),
  cost_usd: nullable(Usd),
  cost_per_right_usd: Type.Union([Mean, Type.Null()]),
};

const panelFigures = {
  polls: Type.Integer({
    minimum: 0,
    description: 'Rows whose poll ended with a result; a tie or no vote is not right.',
  }),
  accuracy: Share,
  no_answer: Type.Integer({ minimum: 0, description: 'Ties, and polls without a valid vote.' }),
  agreement: Mean,
  cost_usd: Usd,
  cost_per_right_usd: Mean,
  calls: Type.Integer({ minimum: 0, description: 'Votes that were asked and ended.' }),
  panel_calls: Type.Integer({ minimum: 0, description: 'Votes if every model of each panel had been asked.' }),
  calls_saved: nullable(Probability),
  by_confidence: Type.Array(Band, {
    description: 'By the confidence of the answer. `from` and `to` of 1: no further vote could change the winner.',
  }),
  by_agreement: Type.Array(Band, { description: "By the winner's share of the votes." }),
};

export const BatchCalibration = Type.Object(
  {
    polls: Type.Integer({ minimum: 0, description: 'Polls of which it is known what the whole panel elects.' }),
    unknown: Type.Integer({
      minimum: 0,
      description:
        'Polls that ended before that was known, and those of `order_unknown`. More than 1 in 100, and the figures below are null.',
    }),
    states: Type.Integer({ minimum: 0, description: 'Moments at which a poll had a leader that could still change.' }),
    error: nullable(
      Type.Number({ minimum: 0, description: 'Expected calibration error over ten bins of confidence.' }),
    ),
    brier: nullable(Type.Number({ minimum: 0, description: 'Mean squared error of one forecast.' })),
    bands: Type.Array(Type.Ref(PublishedBand)),
  },
  { $id: 'BatchCalibration', description: 'What confidence said of the whole panel, against what it then elected.' },
);
export type BatchCalibration = Static<typeof BatchCalibration>;

export const PairedDifference = Type.Object(
  {
    gained: Type.Integer({ minimum: 0, description: 'Polls that are right here and not there.' }),
    lost: Type.Integer({ minimum: 0, description: 'Polls that are right there and not here.' }),
    mean: nullable(Type.Number()),
    low: nullable(Type.Number()),
    high: nullable(Type.Number()),
  },
  {
    $id: 'PairedDifference',
    description:
      'Accuracy here minus accuracy there, poll by poll, with a 95% interval that is wide rather than narrow.',
  },
);
export type PairedDifference = Static<typeof PairedDifference>;

export const BatchThreshold = Type.Object(
  {
    confidence_threshold: Type.Union([Probability, Type.Null()], { description: 'Null: as the polls were asked.' }),
    unknown: Type.Integer({
      minimum: 0,
      description:
        'Polls that had stopped before they reached it, so that no vote shows what would have come. With any, the figures are null.',
    }),
    ...worth,
    calls_saved: nullable(Probability),
    cost_saved: nullable(
      Type.Number({
        maximum: 1,
        description:
          'Against asking every model; votes that were not asked are put at what their model costs on average in this batch.',
      }),
    ),
    stopped_early: Type.Union([Share, Type.Null()]),
    wrong_stops: Type.Union(
      [
        Type.Object({
          wrong: Type.Integer({
            minimum: 0,
            description: 'Early stops on another winner than the whole panel elects.',
          }),
          judged: Type.Integer({ minimum: 0, description: 'Early stops of which that is known.' }),
          of: Type.Integer({ minimum: 0, description: 'All early stops.' }),
          share: nullable(Probability),
          low: nullable(Probability),
          high: nullable(Probability),
        }),
        Type.Null(),
      ],
      { description: 'The share is null unless all early stops can be judged.' },
    ),
    panel_agreement: Type.Union([Share, Type.Null()], {
      description:
        'Polls with the outcome of the whole panel, of those of which that is known; null unless it is of all.',
    }),
    difference: Type.Union([Type.Ref(PairedDifference), Type.Null()], {
      description: 'Against the same polls as they were asked.',
    }),
    as_asked: Type.Optional(
      Type.Object(
        { accuracy: Share, cost_usd: Usd },
        { description: 'These polls as they were asked, where those of `order_unknown` are left out.' },
      ),
    ),
  },
  { $id: 'BatchThreshold' },
);
export type BatchThreshold = Static<typeof BatchThreshold>;

export const BatchModel = Type.Object(
  {
    model_id: Type.String(),
    polls: Type.Integer({ minimum: 0, description: 'Polls in whose panel it was.' }),
    asked: Type.Integer({
      minimum: 0,
      description:
        'Polls in which it was asked. Fewer than `polls`: harder than average, because easy polls stop early.',
    }),
    accuracy: Type.Ref(MeasuredShare, { description: 'Of the polls in which it was asked; no answer is not right.' }),
    panel_accuracy: Type.Ref(MeasuredShare, { description: 'Of the panel, on the same polls.' }),
    difference: Type.Ref(PairedDifference, { description: 'Against the panel, on the same polls.' }),
    agreement: Type.Ref(MeasuredShare, {
      description: "Its votes for the panel's answer, of its votes where there was one.",
    }),
    cost_usd: Usd,
    cost_per_right_usd: Mean,
  },
  { $id: 'BatchModel' },
);
export type BatchModel = Static<typeof BatchModel>;

export const BatchReportPanel = Type.Object(
  {
    preset: literals(PANEL_NAMES),
    confidence_threshold: Type.Object({ min: Probability, max: Probability }, { description: 'Of its polls.' }),
    ...panelFigures,
    order_unknown: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Polls that changed their worker on the way, so that the order of their votes is not known. They are left out of `thresholds`, but for the first; more than 1 in 100, and the figures of the others are null. Missing where there are none.',
      }),
    ),
    calibration: Type.Ref(BatchCalibration),
    models: Type.Array(Type.Ref(BatchModel), { description: 'Each model alone, the most accurate first.' }),
    thresholds: Type.Array(Type.Ref(BatchThreshold), {
      description: 'As asked, then other thresholds from low to high, replayed from the votes.',
    }),
  },
  { $id: 'BatchReportPanel' },
);
export type BatchReportPanel = Static<typeof BatchReportPanel>;

export const RECOMMENDATIONS = ['change', 'keep', 'more_rows'] as const;

export const BatchRecommendation = Type.Object(
  {
    kind: literals(RECOMMENDATIONS, {
      description:
        '`change`: something cheaper was right as often, as far as these rows can show. `keep`: go on with `preset` as it was asked; nothing cheaper was right as often. `more_rows`: too few to say.',
    }),
    preset: nullable(literals(PANEL_NAMES)),
    confidence_threshold: nullable(Probability),
    cost_saved: nullable(Type.Number({ description: 'Of what the polls of this preset cost as they were asked.' })),
    sentences: Type.Array(Type.String(), { description: 'It in words, with the figures that it follows from.' }),
  },
  { $id: 'BatchRecommendation' },
);
export type BatchRecommendation = Static<typeof BatchRecommendation>;

export const BatchReport = Type.Object(
  {
    batch_id: Type.String(),
    complete: Type.Boolean({
      description:
        'False while rows are to come or to be counted: then the figures are of the first rows, in their order.',
    }),
    rows: Type.Object({
      total: Count,
      counted: Type.Integer({ minimum: 0, description: 'From the first row on.' }),
      judged: Type.Integer({ minimum: 0, description: 'With a right answer and a result.' }),
      without_gold: Count,
      not_judged: Type.Integer({ minimum: 0, description: 'Canceled, not run, failed without a result, or deleted.' }),
    }),
    simulated: Type.Boolean(),
    ...panelFigures,
    panels: Type.Array(Type.Ref(BatchReportPanel), { description: 'By preset, the one with most polls first.' }),
    recommendation: Type.Ref(BatchRecommendation),
    counted_at: DateTime,
  },
  { $id: 'BatchReport' },
);
export type BatchReport = Static<typeof BatchReport>;
