import { CHAT_MODELS, type ChatModel, type PanelName } from '@eloquentpoll/contracts';
import { ApiError, invalid } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';

// One model per panel. Ids are vendor and name, as model routers write them.

const PREFIX = 'eloquentpoll/';

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  broad: 'Models of diverse providers vote.',
  fast: 'Models with low latency vote.',
  strong: 'Frontier models vote.',
  free: 'Open-weight models vote, at no cost and without a key, with lower limits.',
};

/** A creation time, which clients of the OpenAI API expect: 2026-01-01. */
const CREATED_S = 1_767_225_600;

const chatModels: readonly ChatModel[] = CHAT_MODELS.map((id) => ({
  id,
  object: 'model',
  created: CREATED_S,
  owned_by: 'eloquentpoll',
  description: DESCRIPTIONS[id.slice(PREFIX.length)] ?? id,
}));

/** The models that this installation offers. */
export const offeredModels = (context: Pick<PollsContext, 'panels'>): readonly ChatModel[] =>
  chatModels.filter(({ id }) => runsFreePolls(context) || !isFreeModel(id));

export function chatModelNamed(offered: readonly ChatModel[], id: string): ChatModel {
  const model = offered.find((one) => one.id === id);
  if (model) return model;
  throw new ApiError('model_not_found', {
    detail: `No model has this id; there are ${listOf(offered)}.`,
    issues: [{ pointer: '#/model', detail: 'unknown' }],
  });
}

export function panelOfModel(offered: readonly ChatModel[], model: unknown): PanelName {
  if (typeof model === 'string') return chatModelNamed(offered, model).id.slice(PREFIX.length) as PanelName;
  throw invalid([{ pointer: '#/model', detail: `model must be one of ${listOf(offered)}` }]);
}

const listOf = (offered: readonly ChatModel[]): string => offered.map(({ id }) => id).join(', ');

/** Takes any body, valid or not. */
export const isFreeModel = (model: unknown): boolean => model === `${PREFIX}free`;
export const isPaidModel = (model: unknown): boolean =>
  !isFreeModel(model) && chatModels.some(({ id }) => id === model);
