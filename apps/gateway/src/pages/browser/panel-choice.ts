// The panels that a form can choose beside the presets, as values of its field.

/** Before the name of a saved panel. */
export const SAVED = 'panel:';
/** Before the ids of models that were named one by one, separated by commas; no id has one. */
export const NAMED = 'models:';

type PanelMember = { preset: string } | { panel: string } | { models: string[] };

/** The member of a request that a choice stands for. */
export function panelOfChoice(choice: string): PanelMember {
  if (choice.startsWith(SAVED)) return { panel: choice.slice(SAVED.length) };
  if (choice.startsWith(NAMED)) return { models: choice.slice(NAMED.length).split(',') };
  return { preset: choice };
}

/** What the form calls models that were named one by one; null for another choice. */
export function namedModelsLabel(choice: string): string | null {
  if (!choice.startsWith(NAMED)) return null;
  const names = choice
    .slice(NAMED.length)
    .split(',')
    .map((id) => id.slice(id.lastIndexOf('/') + 1));
  return `${names.length} models: ${names.join(', ')}`;
}
