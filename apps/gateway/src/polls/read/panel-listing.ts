import { type PanelListing, PRESETS, type SavedPanel } from '@eloquentpoll/contracts';
import type { Panels } from '@eloquentpoll/models/panels';
import type { StoredPanel } from '@eloquentpoll/storage';

export const toSavedPanel = (panels: Panels, { name, models, updatedAt }: StoredPanel): SavedPanel => ({
  name,
  models: [...models],
  unknown_models: models.filter((id) => !panels.model(id)),
  updated_at: updatedAt.toISOString(),
});

export const toPanelListing = (panels: Panels, saved: readonly StoredPanel[]): PanelListing => ({
  panels: saved.map((panel) => toSavedPanel(panels, panel)),
  presets: PRESETS.map((name) => {
    const { models, why } = panels.panel(name);
    return { name, models: models.map(({ id }) => id), why };
  }),
  models: panels.models().map(({ id, family }) => ({ id, vendor: family })),
});
