import { ASKING_ORDERS, FREE_PRESETS, ROSTER_PANELS, type RosterPanel } from '@eloquentpoll/contracts';
import { checkModel } from './check-model.ts';
import { checkProvider, checkTimeouts } from './check-provider.ts';
import { closest } from './closest.ts';
import { joinRosters } from './join-rosters.ts';
import { Place } from './panel-place.ts';
import { RosterFileError, type RosterFileProblem } from './panel-problems.ts';
import type { Model, Panel, Provider, RosterFile } from './panel-types.ts';

// Converts the parsed JSON of a roster file to checked values, or rejects it with all its problems.

/**
 * How many families a panel needs by default. `broad` promises diversity; the others only promise more than one family.
 */
const FAMILIES: Record<RosterPanel, number> = { broad: 5, strong: 3, fast: 2, free: 2, free_search: 2 };
const MIN_FAMILIES = 2;
const MAX_MODELS = 20;

/** A panel in a file, with the number of families that it needs. */
export interface PartPanel extends Panel {
  name: RosterPanel;
  minFamilies: number;
}

/** One file's part of a roster. Panels are only checked after all parts are joined. */
export interface RosterPart {
  file: string;
  providers: Map<string, Provider>;
  models: Map<string, Model>;
  panels: Map<RosterPanel, PartPanel>;
}

export function checkRosterPart(file: string, json: unknown): RosterPart {
  const problems: RosterFileProblem[] = [];
  const root = new Place(json, '', problems);
  if (!root.fields(['providers', 'models', 'presets', 'prices_read'])) throw new RosterFileError(file, problems);
  const read = root.at('prices_read');
  if (!read.isMissing)
    read.text(/^\d{4}-\d\d-\d\d$/, 'Write the day on which its prices were read, such as "2026-11-23"');
  const providers = new Map(
    root
      .at('providers')
      .entries('provider')
      .map(([name, place]) => [name, checkProvider(name, place)]),
  );
  const models = readModels(root.at('models'), providers);
  const panels = readRosters(root.at('presets'), models);
  if (problems.length > 0) throw new RosterFileError(file, problems);
  return { file, providers, models, panels };
}

/** The roster of one or several files. Throws if a panel is invalid. */
export function checkRoster(parts: readonly RosterPart[]): RosterFile {
  const file = parts.map((part) => part.file).join(',');
  const problems: RosterFileProblem[] = [];
  const { providers, models, panels } = joinRosters(parts, new Place({}, '', problems));
  const simulated = [...models.keys()].filter((id) => id.startsWith('sim/')).length;
  if (simulated > 0 && simulated < models.size)
    new Place([], 'models', problems).report(
      'mixes simulated and real models',
      'Models whose id starts with "sim/" need a file of their own',
    );
  for (const panel of panels.values())
    if (panel.models.length > 0) checkMembers(panel, new Place([], `presets.${panel.name}.models`, problems));
  if (problems.length > 0) throw new RosterFileError(file, problems);
  return { providers, models, panels };
}

function readModels(place: Place, providers: ReadonlyMap<string, Provider>): Map<string, Model> {
  const models = new Map<string, Model>();
  for (const item of place.items('model')) {
    const model = checkModel(item, providers);
    if (model.id === '') continue;
    if (!models.has(model.id)) models.set(model.id, model);
    else item.at('id').report(`"${model.id}" is already the id of an earlier model`, 'Keep one of the two entries');
  }
  return models;
}

function readRosters(place: Place, models: ReadonlyMap<string, Model>): Map<RosterPanel, PartPanel> {
  const panels = new Map<RosterPanel, PartPanel>();
  if (!place.fields(ROSTER_PANELS)) return panels;
  for (const name of ROSTER_PANELS) {
    const preset = place.at(name);
    if (preset.value === null && isFree(name)) panels.set(name, { ...NO_PANEL, name });
    else if (!preset.isMissing) panels.set(name, panel(name, preset, models));
    else preset.report('is missing', `Add it; all of ${ROSTER_PANELS.join(', ')} are needed`);
  }
  return panels;
}

/** A file without open-weight models declares it: `"free": null`. */
const NO_PANEL = { models: [], why: '', order: 'shuffled' as const, timeouts: {}, minFamilies: MIN_FAMILIES };
const isFree = (name: RosterPanel): boolean => FREE_PRESETS.some((free) => free === name);

function panel(name: RosterPanel, place: Place, models: ReadonlyMap<string, Model>): PartPanel {
  place.fields(['models', 'why', 'order', 'min_families', 'timeouts']);
  const members: Model[] = [];
  for (const item of place.at('models').items('model id')) {
    const found = typeof item.value === 'string' ? models.get(item.value) : undefined;
    if (!found) {
      const near = closest(String(item.value), models.keys());
      const wayOut = near ? `Did you mean "${near}"?` : 'Add the model there, or remove it here';
      item.report(`${JSON.stringify(item.value)} is not under "models"`, wayOut);
    } else if (members.includes(found)) {
      item.report(`"${found.id}" is in this preset twice`, 'A model votes once: remove one of the two');
    } else members.push(found);
  }
  const minFamilies = place.at('min_families').whole(MIN_FAMILIES, MAX_MODELS, FAMILIES[name]);
  const why = place.at('why');
  return {
    name,
    models: members,
    why: why.isMissing ? '' : why.text(/\S/, 'Write in a sentence why the preset has these models'),
    order: place.at('order').oneOf(ASKING_ORDERS, 'shuffled'),
    timeouts: checkTimeouts(place.at('timeouts')),
    minFamilies,
  };
}

function checkMembers({ name, models, minFamilies }: PartPanel, place: Place): void {
  const families = [...new Set(models.map((member) => member.family))];
  if (models.length > MAX_MODELS) place.report(`has ${models.length} models`, `Keep at most ${MAX_MODELS}`);
  if (families.length < minFamilies) {
    const found = families.length === 1 ? '1 provider family' : `${families.length} provider families`;
    const wayOut = `"${name}" needs at least ${minFamilies}; add models of others, or another roster: MODELS_FILE=openai,anthropic`;
    place.report(`has ${found} (${families.join(', ')})`, wayOut);
  }
  if (!isFree(name)) return;
  const wayOut = `"${name}" is asked for free polls, which use open-weight models only; replace it`;
  for (const member of models) if (!member.openWeight) place.report(`"${member.id}" is not open-weight`, wayOut);
}
