import { FREE_PRESETS, type RosterPanel } from '@eloquentpoll/contracts';
import type { PartPanel, RosterPart } from './check-roster-file.ts';
import type { Place } from './panel-place.ts';
import { TIMEOUT_NAMES, type Timeouts } from './panel-types.ts';

/** Joins several rosters: each panel asks the models of all of them, in their order. */
export function joinRosters(parts: readonly RosterPart[], problems: Place): Omit<RosterPart, 'file'> {
  const [first, ...others] = parts;
  const joined = {
    providers: new Map(first!.providers),
    models: new Map(first!.models),
    panels: new Map(first!.panels),
  };
  for (const { file, providers, models, panels } of others) {
    join('providers', joined.providers, providers);
    join('models', joined.models, models);
    for (const [name, panel] of panels) joined.panels.set(name, joinPanels(name, joined.panels.get(name)!, panel));

    function join<T>(place: string, known: Map<string, T>, added: ReadonlyMap<string, T>): void {
      for (const [name, value] of added)
        if (!known.has(name)) known.set(name, value);
        else problems.at(place).report(`has "${name}" twice, again in ${file}`, 'Leave one of the two rosters out');
    }
  }
  // A free panel may stay too small even after joining. Without two families of open-weight models there are no free
  // polls.
  if (others.length > 0)
    for (const name of FREE_PRESETS)
      if (isTooSmall(joined.panels.get(name)!)) joined.panels.set(name, { ...joined.panels.get(name)!, models: [] });
  return joined;
}

function joinPanels(name: RosterPanel, one: PartPanel, other: PartPanel): PartPanel {
  if (other.models.length === 0) return one;
  if (one.models.length === 0) return other;
  return {
    name,
    models: [...one.models, ...other.models],
    why: [one.why, other.why].filter(Boolean).join(' '),
    order: one.order === other.order ? one.order : 'shuffled',
    timeouts: longest(one.timeouts, other.timeouts),
    minFamilies: Math.min(one.minFamilies, other.minFamilies),
  };
}

const isTooSmall = ({ models, minFamilies }: PartPanel): boolean =>
  new Set(models.map(({ family }) => family)).size < minFamilies;

/** Takes the longer limits, because the slowest model decides how long a vote may take. */
function longest(one: Partial<Timeouts>, other: Partial<Timeouts>): Partial<Timeouts> {
  const result: Partial<Timeouts> = {};
  for (const name of TIMEOUT_NAMES) {
    const limits = [one[name], other[name]].filter((ms) => ms !== undefined);
    if (limits.length > 0) result[name] = Math.max(...limits);
  }
  return result;
}
