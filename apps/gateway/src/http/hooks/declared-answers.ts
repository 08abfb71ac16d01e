import type { FastifyInstance, FastifySchema } from 'fastify';
import plugin from 'fastify-plugin';
import type { AnswerSchema } from '../answers.ts';

// For every route Fastify makes an array of serializers as long as the highest status that the route declares: two
// megabytes in all, of which nothing is used, because a handler's body is sent as it is. So what routes declare as
// `response` is kept where only the API document looks for it.

type Answers = Readonly<Record<string, AnswerSchema>>;

const ANSWERS = Symbol('answers');

/** Before all hooks that read what a route declares. */
export const declaredAnswers = plugin(async (app: FastifyInstance) => {
  app.addHook('onRoute', (route) => {
    if (route.schema?.response === undefined) return;
    const { response, ...schema } = route.schema;
    route.schema = withAnswers(schema, response as Answers);
  });
});

export const answersOf = (schema: FastifySchema | undefined): Answers =>
  (schema as { [ANSWERS]?: Answers } | undefined)?.[ANSWERS] ?? {};

export const withAnswers = (schema: FastifySchema | undefined, answers: Answers): FastifySchema =>
  Object.assign({ ...schema }, { [ANSWERS]: answers });
