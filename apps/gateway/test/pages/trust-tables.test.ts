import type { CalibrationVersion } from '@eloquentpoll/contracts';
import t from 'tap';
import { groupTables } from '../../src/pages/trust/trust-tables.ts';

const FIGURES = {
  ...{ audits: 0, drawn: 0, unmade: 0, bands: [] },
  stops: {
    ...{ polls: 0, said: null, came_true: null, low: null, high: null, wrong: 0, allowed: 0 },
    ...{ evidence_kept: 1, evidence_broken: 1 },
  },
};

type Gate = CalibrationVersion['few_options'];
const NONE = { audits: 0, stops: 0, wrong: 0, evidence_kept: 1, evidence_rise: 1, certified: false, alarmed: false };
const OPEN = { ...NONE, audits: 300, certified: true };
const ALARM = { ...OPEN, alarmed: true };

function textOf(few_options: Gate, many_options: Gate, order: CalibrationVersion['order'] = 'cheapest'): string {
  const version: CalibrationVersion = {
    ...{ roster_version: 'abcdefghij', preset: 'broad', search: true, models: ['a', 'b'], first_seen_at: '' },
    ...{ order, current: true, few_options, many_options, ...FIGURES },
  };
  const groups = { presets: [], orders: [], months: [], versions: [version] };
  const empty = { simulated: false, confidence_threshold: 0.95, since: null, agreement: null, accuracy: [] };
  const page = groupTables({ ...groups, ...empty, ...FIGURES, generated_at: '', cache_expires_at: '' }, 300);
  return /with web search, 2 models([^<]*)/.exec(String(page))![1]!;
}

t.test(
  'a version of a panel is said to be asked as its polls are: by both certificates, and an alarm is for all',
  (t) => {
    t.equal(textOf(OPEN, OPEN), ', certified to ask its cheapest models first');
    t.match(textOf(OPEN, NONE), /^, certified .* first with up to 3 options, shuffled with more$/);
    t.match(textOf(null, OPEN), /^, certified .* first with more than 3 options, shuffled with fewer$/);
    for (const [few, many] of [
      [ALARM, OPEN],
      [OPEN, ALARM],
    ] as const)
      t.match(textOf(few, many), /^, alarm: .* shuffled and only a final outcome stops polls early$/);
    for (const few of [null, NONE, { ...OPEN, audits: 299 }, { ...NONE, audits: 900 }])
      t.equal(textOf(few, few), ', not yet certified to ask its cheapest models first');
    t.equal(textOf(ALARM, ALARM, 'shuffled'), '');
    t.end();
  },
);
