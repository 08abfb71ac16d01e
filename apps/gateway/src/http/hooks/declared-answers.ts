import type { FastifyInstance, FastifySchema } from 'fastify';
import plugin from 'fastify-plugin';
import type { AnswerSchema } from '../answers.ts';

// Hides a route's declared `response` from Fastify. For each route Fastify would build an array of serializers as long
// as the highest status: two megabytes in all and never used, because bodies are sent as handlers return them. The API
// document still finds the declaration.

type Answers = Readonly<Record<string, AnswerSchema>>;

const ANSWERS = Symbol('answers');

/** Register it before all hooks that read what a route declares. */
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
