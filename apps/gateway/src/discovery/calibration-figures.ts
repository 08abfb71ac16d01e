import {
  type CalibrationAgreement,
  type CalibrationFigures,
  type CalibrationStops,
  type CalibrationVersion,
  type PublishedCalibration,
  ROSTER_PANELS,
} from '@eloquentpoll/contracts';
import {
  addedSaid,
  bandsOf,
  EMPTY_SAID,
  effectiveVotesOf,
  evidenceBelow,
  evidenceOfRise,
  type SaidTally,
  shareInterval,
  soundState,
  stopFigures,
  TRIALS_OF_A_BLOCK,
} from '@eloquentpoll/evidence';
import type { Panels } from '@eloquentpoll/models/panels';
import type { AuditMonth, ModelEvidence, StoredReputation, StoredTrackRecord } from '@eloquentpoll/storage';
import type { CountedWindow } from './reputations.ts';
import { shareFigure } from './share-figure.ts';

// Stated confidence compared with how often it proved right, in the form of the API, from sums over audited polls.

export function figuresOf(months: readonly Pick<AuditMonth, 'tally' | 'unmade'>[]): CalibrationFigures {
  const tally = months.reduce((sum, month) => addedSaid(sum, month.tally), EMPTY_SAID);
  const unmade = months.reduce((sum, month) => sum + month.unmade, 0);
  return {
    ...{ audits: tally.audits, drawn: tally.audits + unmade, unmade },
    stops: stopsOf(tally),
    bands: bandsOf(tally.bands).map(({ from, to, polls, said, cameTrue, interval, isPooled }) => ({
      ...{ from, to, polls, said: shareFigure(said), came_true: shareFigure(cameTrue) },
      ...{ low: shareFigure(interval.low), high: rounded(interval.high), pooled: isPooled },
    })),
  };
}

function stopsOf(tally: SaidTally): CalibrationStops {
  const { polls, said, wrong, allowed, evidenceKept, evidenceBroken } = stopFigures(tally);
  const { low, high } = shareInterval(polls - wrong, polls);
  const ofPolls = (share: number) => (polls === 0 ? null : shareFigure(share));
  return {
    ...{ polls, said: ofPolls(said / polls), came_true: ofPolls(1 - wrong / polls) },
    ...{ low: ofPolls(low), high: polls === 0 ? null : rounded(high) },
    ...{ wrong, allowed: rounded(allowed), evidence_kept: brief(evidenceKept), evidence_broken: brief(evidenceBroken) },
  };
}

/** These figures for each group of polls, in the order in which the groups first occur. */
export const grouped = <K extends string>(
  months: readonly AuditMonth[],
  groupOf: (month: AuditMonth) => K,
): (CalibrationFigures & { group: K })[] =>
  [...Map.groupBy(months, groupOf)].map(([group, rows]) => ({
    group,
    ...figuresOf(rows),
  }));

interface VersionsKnown {
  records: readonly StoredTrackRecord[];
  current: ReadonlySet<string>;
  promise: number;
}

/** Current roster versions first, then the newest. */
export function versionsOf(
  months: readonly AuditMonth[],
  { records, current, promise }: VersionsKnown,
): CalibrationVersion[] {
  return [...Map.groupBy(months, ({ roster }) => roster.version).values()]
    .map((rows) => {
      const { roster, since } = rows[0]!;
      const stored = records.find((record) => record.roster.version === roster.version);
      const state = stored && soundState(stored.state);
      return {
        ...{ roster_version: roster.version, preset: roster.panelName as CalibrationVersion['preset'] },
        ...{ order: roster.order, search: roster.search, models: roster.models.map(({ modelId }) => modelId) },
        ...{ first_seen_at: since.toISOString(), current: current.has(roster.version) },
        ...figuresOf(rows),
        few_options: state ? certificate(state.few, promise) : null,
        many_options: state ? certificate(state.many, promise) : null,
      };
    })
    .toSorted((a, b) => Number(b.current) - Number(a.current) || (a.first_seen_at < b.first_seen_at ? 1 : -1));
}

type Ledger = NonNullable<ReturnType<typeof soundState>>['few'];

function certificate({ audits, isCertified, isAlarmed, stops, blocks }: Ledger, promise: number) {
  const dropped = Math.ceil(stops.trials / TRIALS_OF_A_BLOCK) - blocks.length;
  return {
    ...{ audits, stops: stops.trials, wrong: stops.hits, certified: isCertified, alarmed: isAlarmed },
    evidence_kept: brief(evidenceBelow(promise, stops)),
    evidence_rise: brief(evidenceOfRise(promise, blocks, dropped)),
  };
}

export function agreementOf(evidence: ModelEvidence | null, panels: Panels): CalibrationAgreement | null {
  if (evidence === null) return null;
  const { version, audits, agreement } = evidence;
  return {
    ...{ learned_on: version, audits, models: [...agreement.models] },
    matrix: agreement.matrix.map((row) => row.map((value) => (value === null ? null : rounded(value)))),
    panels: ROSTER_PANELS.map((name) => {
      const ids = panels.panel(name).models.map(({ id }) => id);
      const votes = effectiveVotesOf(agreement, ids);
      return { preset: name, models: ids.length, effective_votes: votes === null ? null : Math.round(10 * votes) / 10 };
    }),
  };
}

/**
 * Whether outcomes were right, according to the feedback of the accounts that paid for them. Opinions of one account
 * depend on each other, so the share and its interval count each account once.
 */
export function accuracyOf(
  { correct, incorrect, accounts, rightAccounts }: StoredReputation['feedback'],
  { from, days }: CountedWindow,
): PublishedCalibration['accuracy'][number] {
  const judged = correct + incorrect;
  const { low, high } = shareInterval(rightAccounts, accounts);
  const ofAccounts = (share: number) => (accounts === 0 ? null : shareFigure(share));
  return {
    ...{ source: 'feedback' as const, since: from.toISOString(), days, judged, right: correct, accounts },
    ...{
      share: ofAccounts(rightAccounts / accounts),
      low: ofAccounts(low),
      high: accounts === 0 ? null : rounded(high),
    },
  };
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4;
/** Shortens an e-value, which may be of any magnitude. */
const brief = (value: number): number => Number(Math.min(1e9, value).toPrecision(3));
