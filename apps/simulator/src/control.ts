import { Type } from '@sinclair/typebox';
import type { App, SimulatorParts } from './app.ts';
import { Behaviour, RegistrySettings } from './behaviour.ts';
import { ProviderApiError } from './errors.ts';
import { parseRecordedVotes } from './recorded-votes.ts';

// How tests and demos control the simulated world while it runs. All input is validated, none is coerced.

const Empty = { additionalProperties: false };

const Pattern = Type.Object({ '*': Type.String({ minLength: 1, maxLength: 200 }) });

const WorldSettings = Type.Object(
  {
    seed: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    latency_scale: Type.Optional(Type.Number({ minimum: 0, maximum: 1000 })),
  },
  { ...Empty, minProperties: 1 },
);

const digits = (maximum: number) =>
  Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$', description: `<= ${maximum}` }));

const CallQuery = Type.Object(
  {
    poll: Type.Optional(Type.String()),
    model: Type.Optional(Type.String()),
    outcome: Type.Optional(Type.String()),
    seat: digits(1e9),
    after: digits(1e9),
    limit: digits(1e9),
  },
  Empty,
);

const DEFAULT_CALLS = 1000;

export function controlRoutes(app: App, world: SimulatorParts): void {
  const { settings, calls } = world;

  app.get('/_control/settings', async () => ({ seed: settings.seed, latency_scale: settings.latencyScale }));

  app.post('/_control/settings', { schema: { body: WorldSettings } }, async ({ body }) => {
    settings.seed = body.seed ?? settings.seed;
    settings.latencyScale = body.latency_scale ?? settings.latencyScale;
    return { seed: settings.seed, latency_scale: settings.latencyScale };
  });

  app.post('/_control/reset', async () => {
    settings.reset();
    calls.clear();
    world.registryCalls.count = 0;
    world.registryCalls.last_query = null;
    return { reset: true };
  });

  app.get('/_control/models', async () => ({ behaviours: settings.behaviours() }));

  app.get('/_control/models/*', { schema: { params: Pattern } }, async ({ params }) => {
    const model = settings.model(params['*']);
    if (model === null) throw new ProviderApiError(404, `${params['*']} is not served`, 'model_not_found');
    return model;
  });

  app.post('/_control/models/*', { schema: { params: Pattern, body: Behaviour } }, async ({ params, body }) => {
    settings.setBehaviour(params['*'], body);
    return { pattern: params['*'], behaviour: body };
  });

  app.delete('/_control/models/*', { schema: { params: Pattern } }, async ({ params }) => {
    if (!settings.removeBehaviour(params['*'])) throw new ProviderApiError(404, `nothing is set for ${params['*']}`);
    return { removed: params['*'] };
  });

  app.get('/_control/registry', async () => ({ settings: settings.registry, ...world.registryCalls }));

  app.post('/_control/registry', { schema: { body: RegistrySettings } }, async ({ body }) => {
    settings.setRegistry(body);
    return { settings: body };
  });

  app.addContentTypeParser(
    'text/csv',
    { parseAs: 'string', bodyLimit: world.votesLimitBytes },
    (_request, text, done) => done(null, text),
  );

  app.put(
    '/_control/votes',
    { schema: { body: Type.String() }, bodyLimit: world.votesLimitBytes },
    async ({ body }) => {
      const votes = readVotes(body);
      settings.setRecordedVotes(votes);
      return { questions: votes.questions, models: votes.models };
    },
  );

  app.delete('/_control/votes', async () => {
    settings.setRecordedVotes(null);
    return { questions: 0, models: [] };
  });

  app.get('/_control/calls', { schema: { querystring: CallQuery } }, async ({ query }) => {
    const { poll, model, outcome } = query;
    const filter = { poll, model, outcome, seat: numberOf(query.seat), after: numberOf(query.after) };
    return calls.read(filter, numberOf(query.limit) ?? DEFAULT_CALLS);
  });

  app.delete('/_control/calls', async () => {
    calls.clear();
    return { cleared: true };
  });
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

function readVotes(text: string) {
  try {
    return parseRecordedVotes(text);
  } catch (error) {
    throw new ProviderApiError(400, error instanceof Error ? error.message : String(error), 'bad_votes_file');
  }
}
