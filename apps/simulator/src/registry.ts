import type { FastifyReply } from 'fastify';
import type { App, SimulatorParts } from './app.ts';
import type { Failure } from './behaviour.ts';
import { CATALOGUE } from './catalogue.ts';
import { ProviderApiError } from './errors.ts';
import { Gone } from './exchanges.ts';
import { draws } from './seeded.ts';
import type { LiveSettings } from './settings.ts';
import { nameOf, type SimulatedModel } from './traits.ts';
import { transmit, turnAway, turnsAway } from './wire.ts';

// A registry of model variants, as the service expects behind /api/models: open rows, filters, an envelope, and
// failures on request.

type Row = Record<string, unknown>;
type Query = Record<string, unknown>;

const SOURCES = ['hosted', 'cloud', 'self-hosted'] as const;
const TEXT_FILTERS = ['org', 'country', 'source', 'config_key'] as const;

export function registryRoutes(app: App, world: SimulatorParts): void {
  app.get('/registry/models', async (request, reply) => {
    world.registryCalls.count += 1;
    world.registryCalls.last_query = { ...(request.query as Query) };
    const { registry, seed } = world.settings;
    const rows = registry.variants ?? ownRows(world.settings);
    const { variants, modelCount } = select(rows, request.query as Query);
    const envelope = {
      count: variants.length,
      ...(registry.omit_model_count === true ? {} : { model_count: modelCount }),
      variants,
    };
    await deliver(world, reply, JSON.stringify(envelope), world.player.next(registry, seed, 'registry', null));
    return reply;
  });
}

async function deliver(
  world: SimulatorParts,
  reply: FastifyReply,
  text: string,
  failure: Failure | null,
): Promise<void> {
  const exchange = world.exchanges.open(reply);
  try {
    if (failure !== null && turnsAway(failure)) await turnAway(reply, exchange, failure);
    else await transmit(reply, exchange, { contentType: 'application/json; charset=utf-8', pieces: [text] }, failure);
  } catch (error) {
    if (!(error instanceof Gone)) throw error;
    reply.hijack();
    reply.raw.destroy();
  } finally {
    exchange.end();
  }
}

function ownRows(settings: LiveSettings): Row[] {
  const ids = new Set([...CATALOGUE, ...settings.namedModels()]);
  return [...ids].flatMap((id) => {
    const model = settings.model(id);
    return model === null ? [] : rowsOf(model);
  });
}

function rowsOf(model: SimulatedModel): Row[] {
  const draw = draws('registry', model.id);
  const sources = SOURCES.slice(0, 1 + Math.floor(draw() * SOURCES.length));
  const rows = sources.map((source) => row(model, source, false, draw() > 0.1));
  return draw() < 0.3 ? [...rows, row(model, SOURCES[0], true, true)] : rows;
}

const row = (model: SimulatedModel, source: string, alias: boolean, available: boolean): Row => ({
  id: `${model.id}${alias ? ':latest' : ''}@${source}`,
  model: model.id,
  name: nameOf(model.id),
  org: model.family,
  country: model.country,
  source,
  config_key: `${source}_${nameOf(model.id).replace(/[^a-z0-9]+/gi, '_')}${alias ? '_latest' : ''}`,
  is_alias: alias,
  available,
  context_length: 128_000,
  ...model.price,
});

function select(rows: readonly Row[], query: Query): { variants: Row[]; modelCount: number } {
  const aliasOnly = flag(query, 'is_alias');
  const availableOnly = flag(query, 'available_only') === true;
  let found = rows.filter(
    (candidate) =>
      TEXT_FILTERS.every((name) => query[name] === undefined || same(candidate[name], query[name])) &&
      (aliasOnly === undefined || (candidate.is_alias === true) === aliasOnly) &&
      (!availableOnly || candidate.available !== false),
  );
  if (typeof query.sort === 'string') found = sorted(found, query.sort);
  const models = new Set(found.map((candidate) => candidate.model));
  if (flag(query, 'one_per_model') === true) {
    const unseen = new Set(models);
    found = found.filter((candidate) => unseen.delete(candidate.model));
  }
  return { variants: found.slice(0, limitOf(query)), modelCount: models.size };
}

function flag(query: Query, name: string): boolean | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw new ProviderApiError(400, `${name} must be true or false`);
}

function limitOf({ limit }: Query): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  const value = Number(limit);
  if (!Number.isInteger(value) || value < 1)
    throw new ProviderApiError(400, 'limit must be a whole number of at least 1');
  return value;
}

/** Sorts by a field. A leading minus reverses the order. */
function sorted(rows: readonly Row[], by: string): Row[] {
  const name = by.replace(/^-/, '');
  if (!rows.some((candidate) => Object.hasOwn(candidate, name)) && rows.length > 0)
    throw new ProviderApiError(400, `rows cannot be sorted by ${name}`);
  const sign = by.startsWith('-') ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(a[name], b[name]));
}

const compare = (a: unknown, b: unknown): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en');

const same = (a: unknown, b: unknown): boolean => String(a).toLowerCase() === String(b).toLowerCase();
