import type { RosterPanel } from '@eloquentpoll/contracts';
import type { Model, Panels } from '@eloquentpoll/models/panels';
import { PANEL_TEXTS } from './panels.ts';

// The filter of /models. An unknown value shows no rows and says so, instead of an error.

interface Capability {
  name: string;
  label: string;
  has(model: Model): boolean;
}

export const CAPABILITIES: readonly Capability[] = [
  { name: 'open_weight', label: 'Open weights', has: (model) => model.openWeight },
  { name: 'search', label: 'Web search', has: (model) => model.search !== null },
  { name: 'reasoning', label: 'Reasoning', has: ({ reasoning }) => /^(low|always)$/.test(reasoning) },
  { name: 'strict_answer', label: 'Structured output', has: (model) => model.answer === 'json_schema' },
];

export interface ModelsFilter {
  family?: string | undefined;
  preset?: string | undefined;
  capability?: string | undefined;
  sort?: string | undefined;
}

/** A model with the panels that contain it. */
export interface ListedModel {
  model: Model;
  panels: readonly RosterPanel[];
  capabilities: readonly Capability[];
}

/** Grouped by family, in the order of the roster file. */
export function listModels(panels: Panels): ListedModel[] {
  return panels
    .models()
    .map((model) => ({
      model,
      panels: PANEL_TEXTS.map(({ name }) => name).filter((name) =>
        panels.panel(name).models.some(({ id }) => id === model.id),
      ),
      capabilities: CAPABILITIES.filter(({ has }) => has(model)),
    }))
    .toSorted((a, b) => a.model.family.localeCompare(b.model.family, 'en'));
}

/** A form sends an empty value for "any". */
export const fits = ({ model, panels, capabilities }: ListedModel, { family, preset, capability }: ModelsFilter) =>
  (!family || model.family === family) &&
  (!preset || panels.some((name) => name === preset)) &&
  (!capability || capabilities.some(({ name }) => name === capability));
