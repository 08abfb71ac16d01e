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
      Type.Number({ minimum: 0, maximum: 1, description: 'Lower end of the exact 95% interval; null without rows.' }),
    ),
    high: nullable(Probability),
  },
  { $id: 'MeasuredShare' },
);
export type MeasuredShare = Static<typeof MeasuredShare>;

export const MeasuredMean = Type.Object(
  { mean: nullable(Type.Number()), low: nullable(Type.Number()), high: nullable(Type.Number()) },
  { $id: 'MeasuredMean', description: 'A mean and its 95% interval; null if there are too few rows.' },
);
export type MeasuredMean = Static<typeof MeasuredMean>;

const Share = Type.Ref(MeasuredShare);
const Mean = Type.Ref(MeasuredMean);

const Band = Type.Object({
  from: Probability,
  to: Probability,
  said: Type.Number({ minimum: 0, maximum: 1, description: 'The mean over the polls of this band.' }),
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
    description: 'Rows whose poll ended with a result. A tie, or a poll without a valid vote, counts as wrong.',
  }),
  accuracy: Share,
  no_answer: Type.Integer({ minimum: 0, description: 'Ties, and polls without a valid vote.' }),
  agreement: Mean,
  cost_usd: Usd,
  cost_per_right_usd: Mean,
  calls: Type.Integer({ minimum: 0, description: 'Votes that were asked for and completed.' }),
  panel_calls: Type.Integer({
    minimum: 0,
    description: 'The number of votes if every model of each panel had been asked.',
  }),
  calls_saved: nullable(Probability),
  by_confidence: Type.Array(Band, {
    description:
      'By the confidence of the result. If `from` and `to` are 1, no further vote could have changed the winner.',
  }),
  by_agreement: Type.Array(Band, { description: "By the winner's share of the votes." }),
};

export const BatchCalibration = Type.Object(
  {
    polls: Type.Integer({ minimum: 0, description: 'Polls whose full-panel winner is known.' }),
    unknown: Type.Integer({
      minimum: 0,
      description:
        'Polls whose full-panel winner is not known, and the polls counted in `order_unknown`. If they are more than 1 in 100, the figures below are null.',
    }),
    states: Type.Integer({
      minimum: 0,
      description: 'How many states were evaluated: moments at which a poll had a leader that could still change.',
    }),
    error: nullable(
      Type.Number({
        minimum: 0,
        description: 'Expected calibration error over ten bins of confidence; by chance alone about .03 in 100 polls.',
      }),
    ),
    brier: nullable(Type.Number({ minimum: 0, description: 'Mean squared error of one forecast.' })),
    bands: Type.Array(Type.Ref(PublishedBand)),
  },
  {
    $id: 'BatchCalibration',
    description: 'Stated confidence compared with how often the full panel elected the same winner.',
  },
);
export type BatchCalibration = Static<typeof BatchCalibration>;

export const PairedDifference = Type.Object(
  {
    gained: Type.Integer({
      minimum: 0,
      description: 'Polls that are right in the first case but wrong in the second.',
    }),
    lost: Type.Integer({ minimum: 0, description: 'Polls that are wrong in the first case but right in the second.' }),
    mean: nullable(Type.Number()),
    low: nullable(Type.Number()),
    high: nullable(Type.Number()),
  },
  {
    $id: 'PairedDifference',
    description:
      'The difference in accuracy between two cases on the same polls (first minus second), with a conservative 95% interval.',
  },
);
export type PairedDifference = Static<typeof PairedDifference>;

export const BatchThreshold = Type.Object(
  {
    confidence_threshold: Type.Union([Probability, Type.Null()], {
      description: 'Null means as the polls were asked.',
    }),
    unknown: Type.Integer({
      minimum: 0,
      description:
        'Polls that had stopped before they reached this threshold, so that their outcome is unknown. If there are any, the figures are null.',
    }),
    ...worth,
    calls_saved: nullable(Probability),
    cost_saved: nullable(
      Type.Number({
        maximum: 1,
        description:
          'The saving compared with asking every model. Votes that were not asked for are valued at the average cost of their model in this batch.',
      }),
    ),
    stopped_early: Type.Union([Share, Type.Null()]),
    wrong_stops: Type.Union(
      [
        Type.Object({
          wrong: Type.Integer({
            minimum: 0,
            description: 'Early stops whose winner is not the one that the full panel elects.',
          }),
          judged: Type.Integer({ minimum: 0, description: 'Early stops whose full-panel winner is known.' }),
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
        'Share of polls whose outcome is that of the full panel. Null unless the full-panel outcome of all polls is known.',
    }),
    difference: Type.Union([Type.Ref(PairedDifference), Type.Null()], {
      description: 'Compared with the same polls as they were asked.',
    }),
    as_asked: Type.Optional(
      Type.Object(
        { accuracy: Share, cost_usd: Usd },
        { description: 'These polls as they were asked; present if polls of `order_unknown` are left out.' },
      ),
    ),
  },
  { $id: 'BatchThreshold' },
);
export type BatchThreshold = Static<typeof BatchThreshold>;

export const BatchModel = Type.Object(
  {
    model_id: Type.String(),
    polls: Type.Integer({ minimum: 0, description: 'Polls whose panel contained the model.' }),
    asked: Type.Integer({
      minimum: 0,
      description:
        'Polls in which the model was asked. If they are fewer than `polls`, they are harder than average, because easy polls stop early.',
    }),
    accuracy: Type.Ref(MeasuredShare, {
      description: 'The accuracy of the model in the polls in which it was asked. No answer counts as wrong.',
    }),
    panel_accuracy: Type.Ref(MeasuredShare, { description: 'The accuracy of the panel on the same polls.' }),
    difference: Type.Ref(PairedDifference, { description: 'The model compared with the panel on the same polls.' }),
    agreement: Type.Ref(MeasuredShare, {
      description: "How often the model voted for the panel's answer, in polls where the panel had one.",
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
    confidence_threshold: Type.Object(
      { min: Probability, max: Probability },
      { description: 'The lowest and highest threshold of these polls.' },
    ),
    ...panelFigures,
    order_unknown: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Polls that moved to another worker while running, so that the order of their votes is unknown. They are left out of all `thresholds` except the first. If they are more than 1 in 100, the figures of the other thresholds are null. Missing if there are none.',
      }),
    ),
    calibration: Type.Ref(BatchCalibration),
    models: Type.Array(Type.Ref(BatchModel), { description: 'Each model on its own, the most accurate first.' }),
    thresholds: Type.Array(Type.Ref(BatchThreshold), {
      description: 'First the polls as asked, then other thresholds from low to high, replayed from the votes.',
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
        '`change`: a cheaper choice was right as often, as far as these rows can show. `keep`: keep `preset` as it was asked; no cheaper choice was right as often. `more_rows`: too few rows for a recommendation.',
    }),
    preset: nullable(literals(PANEL_NAMES)),
    confidence_threshold: nullable(Probability),
    cost_saved: nullable(
      Type.Number({ description: 'The saving as a share of what the polls of this preset cost as they were asked.' }),
    ),
    sentences: Type.Array(Type.String(), { description: 'The recommendation in words, with the figures behind it.' }),
  },
  { $id: 'BatchRecommendation' },
);
export type BatchRecommendation = Static<typeof BatchRecommendation>;

export const BatchReport = Type.Object(
  {
    batch_id: Type.String(),
    complete: Type.Boolean({
      description:
        'False while rows are still running or not yet counted. The figures then cover the first `rows.counted` rows of the batch.',
    }),
    rows: Type.Object({
      total: Count,
      counted: Type.Integer({ minimum: 0, description: 'Rows counted so far, from the first row on.' }),
      judged: Type.Integer({ minimum: 0, description: 'Rows with a right answer and a result.' }),
      without_gold: Count,
      not_judged: Type.Integer({
        minimum: 0,
        description: 'Rows that were canceled, not run, failed without a result, or deleted.',
      }),
    }),
    simulated: Type.Boolean(),
    ...panelFigures,
    panels: Type.Array(Type.Ref(BatchReportPanel), { description: 'By preset, the one with the most polls first.' }),
    recommendation: Type.Ref(BatchRecommendation),
    counted_at: DateTime,
  },
  { $id: 'BatchReport' },
);
export type BatchReport = Static<typeof BatchReport>;
