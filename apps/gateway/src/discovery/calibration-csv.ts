import type { CalibrationFigures, PublishedCalibration } from '@eloquentpoll/contracts';

// GET /api/calibration as a table: one line for the early stops of each group of polls, and one per confidence band.

const COLUMNS = [
  'group',
  'of',
  'simulated',
  'kind',
  'from',
  'to',
  'pooled',
  'polls',
  'said',
  'came_true',
  'low',
  'high',
];
const OF_STOPS = ['wrong', 'allowed', 'evidence_kept', 'evidence_broken'];
const OF_AUDITS = ['audits', 'drawn', 'unmade'];

export function calibrationCsv(calibration: PublishedCalibration): string {
  const { presets, orders, months, versions, simulated } = calibration;
  const groups: [string, string, CalibrationFigures][] = [
    ['all', '', calibration],
    ...presets.map((one): [string, string, CalibrationFigures] => ['preset', one.preset, one]),
    ...orders.map((one): [string, string, CalibrationFigures] => ['order', one.order, one]),
    ...months.map((one): [string, string, CalibrationFigures] => ['month', one.month, one]),
    ...versions.map((one): [string, string, CalibrationFigures] => ['roster_version', one.roster_version, one]),
  ];
  const lines = groups.flatMap(([group, of, { stops, bands, audits, drawn, unmade }]) => {
    const { polls, said, came_true, low, high, wrong, allowed, evidence_kept, evidence_broken } = stops;
    const start = [group, of, simulated];
    return [
      [
        ...start,
        'stops',
        '',
        '',
        '',
        polls,
        said,
        came_true,
        low,
        high,
        wrong,
        allowed,
        evidence_kept,
        evidence_broken,
        ...[audits, drawn, unmade],
      ],
      ...bands.map((band) => [
        ...[...start, 'band', band.from, band.to, band.pooled, band.polls, band.said, band.came_true, band.low],
        ...[band.high, '', '', '', '', '', '', ''],
      ]),
    ];
  });
  return [[...COLUMNS, ...OF_STOPS, ...OF_AUDITS], ...lines]
    .map((cells) => `${cells.map((cell) => cell ?? '').join(',')}\r\n`)
    .join('');
}
