import {
  PanelListing,
  SavedPanel,
  SavedPanelName,
  SavedPanelParams,
  SavedPanelRemoval,
  SavedPanelRequest,
} from '@eloquentpoll/contracts';
import {
  findSavedPanel,
  listSavedPanels,
  MAX_SAVED_PANELS,
  removeSavedPanel,
  type StoredPanel,
  savePanel,
} from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { ApiError, invalid } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { unknownModelIssues } from '../order/choose-models.ts';
import { toPanelListing, toSavedPanel } from '../read/panel-listing.ts';

type Parts = Pick<PollsContext, 'storage' | 'panels'>;
const config = { operation: 'account' } as const;
const shared = { tags: ['Polling'], security: access.sessionOrBearer };
const missing = ['panel_not_found'] as const;

/** GET /api/panels, and GET, PUT and DELETE for the saved panels of an account. */
export function savedPanelRoutes(app: FastifyInstance, { storage, panels }: Parts): void {
  const shown = (found: StoredPanel): SavedPanel => toSavedPanel(panels, found);

  app.get(
    '/api/panels',
    {
      config,
      schema: {
        ...shared,
        operationId: 'listPanels',
        summary: 'List panels and models',
        description: "The account's saved panels, the presets, and all models that a panel can contain.",
        response: { 200: jsonAnswer('Panels and models.', PanelListing), ...errors(...NEEDS_KEY) },
      },
    },
    async (request): Promise<PanelListing> =>
      toPanelListing(panels, await listSavedPanels(storage, accountOf(request))),
  );

  app.get<{ Params: SavedPanelParams }>(
    '/api/panels/:name',
    {
      config,
      schema: {
        ...shared,
        operationId: 'getPanel',
        summary: 'Read a saved panel',
        params: SavedPanelParams,
        response: { 200: jsonAnswer('The panel.', SavedPanel), ...errors(...NEEDS_KEY, ...missing) },
      },
    },
    async (request): Promise<SavedPanel> => {
      const found = await findSavedPanel(storage, accountOf(request), request.params.name);
      if (!found) throw new ApiError('panel_not_found');
      return shown(found);
    },
  );

  app.put<{ Params: SavedPanelParams; Body: SavedPanelRequest }>(
    '/api/panels/:name',
    {
      config,
      schema: {
        ...shared,
        operationId: 'savePanel',
        summary: 'Save a panel under a name',
        description: `Replaces a panel of the same name; running polls keep their models. At most ${MAX_SAVED_PANELS} per account.`,
        params: Type.Object({ name: SavedPanelName }),
        body: Type.Ref(SavedPanelRequest),
        response: {
          200: jsonAnswer('The saved panel.', SavedPanel),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'forbidden_origin', 'panel_limit_reached'),
        },
      },
    },
    async (request): Promise<SavedPanel> => {
      const { models } = request.body;
      const issues = unknownModelIssues(panels, models);
      if (issues.length > 0) throw invalid(issues);
      const saved = await savePanel(storage, accountOf(request), { name: request.params.name, models });
      if (saved) return shown(saved);
      throw new ApiError('panel_limit_reached', { detail: `An account has at most ${MAX_SAVED_PANELS} saved panels.` });
    },
  );

  app.delete<{ Params: SavedPanelParams }>(
    '/api/panels/:name',
    {
      config,
      schema: {
        ...shared,
        operationId: 'removePanel',
        summary: 'Remove a saved panel',
        params: SavedPanelParams,
        response: {
          200: jsonAnswer('The panel is removed; polls that used it are kept.', SavedPanelRemoval),
          ...errors(...READS_BODY, ...NEEDS_KEY, ...missing, 'forbidden_origin'),
        },
      },
    },
    async (request): Promise<SavedPanelRemoval> => {
      const removed = await removeSavedPanel(storage, accountOf(request), request.params.name);
      if (!removed) throw new ApiError('panel_not_found');
      return { removed };
    },
  );
}
