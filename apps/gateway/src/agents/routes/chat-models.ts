import { ChatModel, ChatModelList } from '@eloquentpoll/contracts';
import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { jsonAnswer } from '../../http/answers.ts';
import { chatErrors } from '../../http/chat-errors.ts';
import type { PollsContext } from '../../polls/context.ts';
import { chatModelNamed, offeredModels } from '../chat/models.ts';

const Params = Type.Object({ model: Type.String({ description: 'The id of the model, with the slash as `%2F`.' }) });

/** GET /v1/models and GET /v1/models/{model}: the panels as models of the OpenAI API. */
export function chatModelRoutes(app: FastifyInstance, context: Pick<PollsContext, 'panels'>): void {
  const data = offeredModels(context);
  app.get(
    '/v1/models',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'listChatModels',
        tags: ['Chat'],
        summary: 'List the models of the chat interface',
        description: 'One model for each panel.',
        security: access.none,
        response: { 200: jsonAnswer('The models.', ChatModelList), ...chatErrors() },
      },
    },
    async (): Promise<ChatModelList> => ({ object: 'list', data: [...data] }),
  );

  const found = { 200: jsonAnswer('The model.', ChatModel), ...chatErrors('model_not_found') };
  app.get<{ Params: Static<typeof Params> }>(
    '/v1/models/:model',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getChatModel',
        tags: ['Chat'],
        summary: 'Get a chat model',
        description: 'The id, and which models vote.',
        security: access.none,
        params: Params,
        response: found,
      },
    },
    async ({ params }): Promise<ChatModel> => chatModelNamed(data, params.model),
  );

  // Some clients do not encode the slash in the id.
  app.get<{ Params: { owner: string; name: string } }>(
    '/v1/models/:owner/:name',
    { config: { operation: 'read' }, schema: { hide: true, security: access.none, response: found } },
    async ({ params }): Promise<ChatModel> => chatModelNamed(data, `${params.owner}/${params.name}`),
  );
}
