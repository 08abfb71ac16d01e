import { readFileSync } from 'node:fs';
import type { PanelName, RosterPanel } from '@eloquentpoll/contracts';
import { isLoopback } from '@eloquentpoll/ops/settings';
import { checkRoster, checkRosterPart, type RosterPart } from './check-roster-file.ts';
import { RosterFileError } from './panel-problems.ts';
import type { Model, Panel, Provider, RosterFile } from './panel-types.ts';
import { ROSTERS, rosterNames } from './rosters.ts';

export { listPrice } from './billing.ts';
export { providerMaxU } from './call-costs.ts';
export { closest } from './closest.ts';
export { inService } from './panel-in-service.ts';
export { RosterFileError } from './panel-problems.ts';
export type { Model, Panel, Provider, Timeouts } from './panel-types.ts';
export type { PollText } from './poll-text.ts';
export { withFee } from './price.ts';
export { promptStyle } from './prompt-words.ts';
export { type ProviderSetting, settingsOf } from './provider-call.ts';
export { ROSTERS } from './rosters.ts';
export { maxCallCostOf, seatsFor } from './seats.ts';
export { orderingPricesOf, typicalCostsFor } from './typical-cost.ts';

// The models, their prices and their panels. This entry point loads no model client, so the gateway may use it.

export interface Panels {
  panel(name: RosterPanel): Panel;
  /** The panel of a poll. Throws if a custom panel has a model that is not in the roster file. */
  panelOf(poll: { panel_name: PanelName; models?: readonly string[] }): Panel;
  model(id: string): Model | undefined;
  provider(name: string): Provider;
  providers(): Provider[];
  models(): Model[];
  /** True if the models are simulated. Results state it, and no panel mixes simulated and real models. */
  readonly simulated: boolean;
}

export interface LoadOptions {
  /** Names of built-in rosters and paths of roster files, separated by commas. */
  file?: string | undefined;
  /** Replaces the base URL of every provider, for example by a local simulator's. */
  baseUrl?: string | undefined;
  /** Rejects a file that would send prompts and keys unencrypted to another machine. */
  httpsOnly?: boolean | undefined;
}

/** Reads and checks a roster file. Throws a `RosterFileError` that lists every problem and its place. */
export function loadPanels({ file = 'openrouter', baseUrl, httpsOnly = false }: LoadOptions = {}): Panels {
  const checked = checkRoster(readParts(file));
  const base = baseUrl === undefined ? undefined : checkedBaseUrl(baseUrl);
  const providers = new Map<string, Provider>();
  for (const [name, provider] of checked.providers)
    providers.set(name, base === undefined ? provider : { ...provider, baseUrl: base, keyRequired: false });
  const panels = panelsOf({ ...checked, providers });
  if (httpsOnly && base === undefined && !panels.simulated) refuseClearText(file, panels.providers());
  return panels;
}

/** Providers and models of rosters that need not form panels, such as those of one vendor. */
export function loadProviders(file: string): Pick<RosterFile, 'providers' | 'models'> {
  const parts = readParts(file);
  return {
    providers: new Map(parts.flatMap(({ providers }) => [...providers])),
    models: new Map(parts.flatMap(({ models }) => [...models])),
  };
}

const readParts = (file: string): RosterPart[] =>
  rosterNames(file).map((name) => checkRosterPart(name, ROSTERS[name] ?? parseFile(name)));

function refuseClearText(file: string, providers: readonly Provider[]): void {
  const clear = providers.filter(({ baseUrl }) => {
    const { protocol, hostname } = new URL(baseUrl.replaceAll(/[{}]/g, ''));
    return protocol === 'http:' && !isLoopback(hostname);
  });
  if (clear.length === 0) return;
  throw new RosterFileError(
    file,
    clear.map(({ name }) => ({
      path: `providers.${name}.base_url`,
      problem: 'would send prompts and the key that pays for them in clear text',
      wayOut: 'Write an https address; http is for this machine only',
    })),
  );
}

function panelsOf({ providers, models, panels }: RosterFile): Panels {
  return {
    panel: (name) => panels.get(name)!,
    panelOf: ({ panel_name: name, models: ids = [] }) =>
      name === 'custom' ? customPanel(ids, models, panels.get('strong')!) : panels.get(name)!,
    model: (id) => models.get(id),
    provider: (name) => providers.get(name)!,
    providers: () => [...providers.values()],
    models: () => [...models.values()],
    simulated: [...panels.values()].every((panel) => panel.models.every((model) => model.id.startsWith('sim/'))),
  };
}

/** It may contain the slowest models, so it has the time limits of `strong`. */
function customPanel(ids: readonly string[], models: RosterFile['models'], { timeouts }: Panel): Panel {
  const members = ids.map((id) => {
    const model = models.get(id);
    if (!model) throw new TypeError(`a custom panel was not checked: ${id} is not in the roster file`);
    return model;
  });
  return { name: 'custom', models: members, why: '', order: 'shuffled', timeouts };
}

function parseFile(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new RosterFileError(file, [
      {
        path: '(file)',
        problem: `cannot be read (${code})`,
        wayOut: `Give the path of a roster file, or one of ${Object.keys(ROSTERS).join(', ')}`,
      },
    ]);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = `is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    throw new RosterFileError(file, [
      { path: '(file)', problem, wayOut: 'Mend the text there; a comma too many or missing is the usual cause' },
    ]);
  }
}

function checkedBaseUrl(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw new Error(
    'The base URL of the models is not an http or https address: write one such as http://127.0.0.1:8090/v1',
  );
}
