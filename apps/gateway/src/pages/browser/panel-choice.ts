// Form values for the panels that are not presets.

/** Prefix for the name of a saved panel. */
export const SAVED = 'panel:';
/** Prefix for a comma-separated list of model ids; no id contains a comma. */
export const NAMED = 'models:';

type PanelMember = { preset: string } | { panel: string } | { models: string[] };

/** The request field that a choice stands for. */
export function panelOfChoice(choice: string): PanelMember {
  if (choice.startsWith(SAVED)) return { panel: choice.slice(SAVED.length) };
  if (choice.startsWith(NAMED)) return { models: choice.slice(NAMED.length).split(',') };
  return { preset: choice };
}

/** The form's label for models that were named one by one; null for any other choice. */
export function namedModelsLabel(choice: string): string | null {
  if (!choice.startsWith(NAMED)) return null;
  const names = choice
    .slice(NAMED.length)
    .split(',')
    .map((id) => id.slice(id.lastIndexOf('/') + 1));
  return `${names.length} models: ${names.join(', ')}`;
}
