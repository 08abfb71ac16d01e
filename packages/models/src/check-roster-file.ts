import { ROSTER_PANELS, type RosterPanel } from '@eloquentpoll/contracts';
import { checkModel } from './check-model.ts';
import { checkProvider, checkTimeouts } from './check-provider.ts';
import { closest } from './closest.ts';
import { Place } from './panel-place.ts';
import { RosterFileError, type RosterFileProblem } from './panel-problems.ts';
import type { Model, Panel, Provider, RosterFile } from './panel-types.ts';

// Turns the parsed JSON of a roster file into checked values, or refuses it with every problem it has.

/** Provider families that a panel needs: `broad` promises diversity, the others at least no single voice. */
const MIN_FAMILIES: Record<RosterPanel, number> = { broad: 5, strong: 3, fast: 2, free: 2, free_search: 2 };
const MAX_MODELS = 20;

export function checkPanelFile(file: string, json: unknown): RosterFile {
  const problems: RosterFileProblem[] = [];
  const root = new Place(json, '', problems);
  if (!root.fields(['providers', 'models', 'presets'])) throw new RosterFileError(file, problems);
  const providers = new Map(
    root
      .at('providers')
      .entries('provider')
      .map(([name, place]) => [name, checkProvider(name, place)]),
  );
  const models = readModels(root.at('models'), providers);
  const panels = readRosters(root.at('presets'), models);
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
  const simulated = [...models.keys()].filter((id) => id.startsWith('sim/')).length;
  if (simulated > 0 && simulated < models.size)
    place.report('mixes simulated and real models', 'Models whose id starts with "sim/" need a file of their own');
  return models;
}

function readRosters(place: Place, models: ReadonlyMap<string, Model>): Map<RosterPanel, Panel> {
  const panels = new Map<RosterPanel, Panel>();
  if (!place.fields(ROSTER_PANELS)) return panels;
  for (const name of ROSTER_PANELS) {
    const preset = place.at(name);
    if (!preset.isMissing) panels.set(name, panel(name, preset, models));
    else preset.report('is missing', `Add it; all of ${ROSTER_PANELS.join(', ')} are needed`);
  }
  return panels;
}

function panel(name: RosterPanel, place: Place, models: ReadonlyMap<string, Model>): Panel {
  place.fields(['models', 'why', 'timeouts']);
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
  if (members.length > 0) checkMembers(name, members, place.at('models'));
  const why = place.at('why');
  return {
    name,
    models: members,
    why: why.isMissing ? '' : why.text(/\S/, 'Write in a sentence why the preset has these models'),
    timeouts: checkTimeouts(place.at('timeouts')),
  };
}

function checkMembers(name: RosterPanel, members: readonly Model[], place: Place): void {
  const families = [...new Set(members.map((member) => member.family))];
  const least = MIN_FAMILIES[name];
  if (members.length > MAX_MODELS) place.report(`has ${members.length} models`, `Keep at most ${MAX_MODELS}`);
  if (families.length < least) {
    const found = families.length === 1 ? '1 provider family' : `${families.length} provider families`;
    place.report(`has ${found} (${families.join(', ')})`, `"${name}" needs at least ${least}; add models of others`);
  }
  if (name !== 'free' && name !== 'free_search') return;
  const wayOut = `"${name}" is asked for free polls, which use open-weight models only; replace it`;
  for (const member of members) if (!member.openWeight) place.report(`"${member.id}" is not open-weight`, wayOut);
}
