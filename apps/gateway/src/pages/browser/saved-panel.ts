/** Before the name of a saved panel, among the choices of a form that are presets otherwise. */
export const SAVED = 'panel:';

/** The member of a request that a choice stands for. */
export const panelOfChoice = (choice: string): { preset: string } | { panel: string } =>
  choice.startsWith(SAVED) ? { panel: choice.slice(SAVED.length) } : { preset: choice };
