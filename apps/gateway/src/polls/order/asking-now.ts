import { type PollSpec, ROSTER_PANELS, type RosterPanel } from '@eloquentpoll/contracts';
import { orderingPricesOf, type Panel } from '@eloquentpoll/models/panels';
import { isFree, type PollOrder, rosterVersionOf } from '@eloquentpoll/polls';
import type { KnownTrackRecord, RosterVersion } from '@eloquentpoll/storage';
import { hasAlarm, orderInEffect } from '@eloquentpoll/voting';
import type { PollsContext } from '../context.ts';
import { panelInService } from './panel-in-service.ts';

/** How a poll that is accepted now is asked and what may stop it, by its roster file and the audits of its panel. */
export interface AskingNow {
  /** Without the models that failed their tests. */
  panel: Panel;
  /** Null for a custom panel: there are too many different ones for each to collect enough audits. */
  roster: RosterVersion | null;
  /** Prices of the panel's models, in the order of the roster file. The cheapest-first order sorts by them. */
  pricesU: readonly bigint[];
  /** Null when no track record applies. */
  trackRecord: NonNullable<PollSpec['track_record']> | null;
  /** Null when the roster version has no audits, or they cannot be read. */
  known: KnownTrackRecord | null;
}

/** A panel, asked with or without web search. */
export interface WayOfAsking {
  panel_name: RosterPanel;
  search: boolean;
  /** Its name in published figures. */
  name: string;
}

/** Each of these has its own audits and order. A free panel exists only with or only without search. */
export const WAYS_OF_ASKING: readonly WayOfAsking[] = ROSTER_PANELS.flatMap((panel_name) => {
  const plain = { panel_name, search: panel_name === 'free_search', name: panel_name };
  return isFree(panel_name) ? [plain] : [plain, { panel_name, search: true, name: `${panel_name}_search` }];
});

type Needs = Pick<PollsContext, 'panels' | 'modelsOut' | 'trackRecords' | 'config'>;

export async function askingNow(
  context: Needs,
  order: Pick<PollOrder, 'panel_name' | 'models' | 'options' | 'search'>,
): Promise<AskingNow> {
  const { panels, trackRecords, config } = context;
  const { audits } = config;
  const { panel_name, options, search } = order;
  const panel = await panelInService(context, order);
  if (panel_name === 'custom') return { panel, ...UNAUDITED };
  const { roster, pricesU } = rosterOf(panel, search, panels.simulated);
  const isUsed = roster.order === 'cheapest' || audits.rate > 0;
  const known = isUsed ? await trackRecords.of(roster.version) : null;
  return { panel, roster, pricesU, trackRecord: trackRecordOf(roster, options.length, known, audits.gate), known };
}

const UNAUDITED: Omit<AskingNow, 'panel'> = { roster: null, pricesU: [], trackRecord: null, known: null };

function trackRecordOf(
  { version, order: wanted }: RosterVersion,
  optionCount: number,
  known: KnownTrackRecord | null,
  minAudits: number,
): AskingNow['trackRecord'] {
  if (wanted === 'shuffled' || known === null) return null;
  const order = orderInEffect(wanted, optionCount, known.certificates, minAudits);
  const lock_only = hasAlarm(known.certificates);
  return order === 'cheapest' || lock_only ? { roster_version: version, order, lock_only } : null;
}

interface Roster extends Pick<AskingNow, 'pricesU'> {
  roster: RosterVersion;
}
const rosters = new WeakMap<Panel, Map<boolean, Roster>>();

/** Computed once for each panel of the roster file, with and without search. */
function rosterOf(panel: Panel, search: boolean, simulated: boolean): Roster {
  const known = rosters.get(panel) ?? new Map<boolean, Roster>();
  rosters.set(panel, known);
  const made = known.get(search) ?? versionOf(panel, search, simulated);
  known.set(search, made);
  return made;
}

function versionOf(panel: Panel, search: boolean, simulated: boolean): Roster {
  const pricesU = orderingPricesOf(panel, search);
  const models = panel.models.map(({ id, family }, i) => ({ modelId: id, family, priceU: pricesU[i]! }));
  return { pricesU, roster: rosterVersionOf({ panelName: panel.name, order: panel.order, search, simulated, models }) };
}
