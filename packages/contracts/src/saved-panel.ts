import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { PRESETS } from './poll.ts';
import { DateTime, literals } from './vocabulary.ts';

// Panels that an account saved under a name of its own, and the models that it can make them of.

const NAME_PATTERN = '^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$';

export const SavedPanelName = Type.String({
  minLength: 1,
  maxLength: LIMITS.saved_panel.name,
  pattern: NAME_PATTERN,
  description: 'Lower-case letters and digits, with hyphens between them.',
});

export const ChosenModels = Type.Array(Type.String({ minLength: 1, maxLength: LIMITS.chosen_models.id }), {
  minItems: LIMITS.chosen_models.min,
  maxItems: LIMITS.chosen_models.max,
  uniqueItems: true,
  description: 'Ids of models, as listed by GET /api/panels.',
});

export const SavedPanelParams = Type.Object({ name: Type.String() });
export type SavedPanelParams = Static<typeof SavedPanelParams>;

export const SavedPanelRequest = Type.Object({ models: ChosenModels }, { $id: 'SavedPanelRequest' });
export type SavedPanelRequest = Static<typeof SavedPanelRequest>;

export const SavedPanel = Type.Object(
  {
    name: Type.String(),
    models: Type.Array(Type.String()),
    unknown_models: Type.Array(Type.String(), {
      description:
        'Models of the panel that are no longer available. Polls with this panel are refused until it is saved without them.',
    }),
    updated_at: DateTime,
  },
  { $id: 'SavedPanel' },
);
export type SavedPanel = Static<typeof SavedPanel>;

export const SavedPanelRemoval = Type.Object({ removed: Type.Boolean() }, { $id: 'SavedPanelRemoval' });
export type SavedPanelRemoval = Static<typeof SavedPanelRemoval>;

export const PanelListing = Type.Object(
  {
    panels: Type.Array(Type.Ref(SavedPanel), { description: "The account's saved panels, sorted by name." }),
    presets: Type.Array(
      Type.Object({
        name: literals(PRESETS),
        models: Type.Array(Type.String()),
        why: Type.String({ description: 'Why these models.' }),
      }),
    ),
    models: Type.Array(
      Type.Object({ id: Type.String(), vendor: Type.String({ description: 'The lab that trained the model.' }) }),
      {
        description: 'All models that a panel can contain.',
      },
    ),
  },
  { $id: 'PanelListing' },
);
export type PanelListing = Static<typeof PanelListing>;
