import { CHAT_MODELS, type ChatModel, type PanelName } from '@eloquentpoll/contracts';
import { ApiError, invalid } from '../../http/api-error.ts';

// One model per panel. Ids have the form of routers, vendor and name.

const PREFIX = 'eloquentpoll/';

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  broad: 'Models of diverse providers vote.',
  fast: 'Models of low latency vote.',
  strong: 'Frontier models vote.',
  free: 'Open-weight models vote, at no cost and without a key; the limits are tighter.',
};

/** When the first of them came up, as the vendor's clients expect a time: 2026-01-01. */
const CREATED_S = 1_767_225_600;

export const chatModels: readonly ChatModel[] = CHAT_MODELS.map((id) => ({
  id,
  object: 'model',
  created: CREATED_S,
  owned_by: 'eloquentpoll',
  description: DESCRIPTIONS[id.slice(PREFIX.length)] ?? id,
}));

export function chatModelNamed(id: string): ChatModel {
  const model = chatModels.find((one) => one.id === id);
  if (model) return model;
  throw new ApiError('model_not_found', {
    detail: `No model has this id; there are ${CHAT_MODELS.join(', ')}.`,
    issues: [{ pointer: '#/model', detail: 'unknown' }],
  });
}

export function panelOfModel(model: unknown): PanelName {
  if (typeof model === 'string') return chatModelNamed(model).id.slice(PREFIX.length) as PanelName;
  throw invalid([{ pointer: '#/model', detail: `model must be one of ${CHAT_MODELS.join(', ')}` }]);
}

/** For any body, valid or not. */
export const isFreeModel = (model: unknown): boolean => model === `${PREFIX}free`;
export const isPaidModel = (model: unknown): boolean =>
  !isFreeModel(model) && chatModels.some(({ id }) => id === model);
