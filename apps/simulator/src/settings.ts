import { type Behaviour, contradictionIn, type RegistrySettings, type Script } from './behaviour.ts';
import { ProviderApiError } from './errors.ts';
import type { KnownAnswers } from './known-answers.ts';
import type { RecordedVotes } from './recorded-votes.ts';
import { modelOf, type SimulatedModel } from './traits.ts';

// The current settings of the simulated world. A setting belongs to a model id or to a pattern such as `sim/oak-*` or
// `*`. More specific patterns are applied later and so take precedence.

const MAX_PATTERNS = 1000;
const MAX_CACHED_MODELS = 5000;

export interface SettingsOptions {
  seed?: string;
  latencyScale?: number;
  requiredKey?: string | null;
  recordedVotes?: RecordedVotes | null;
  /** By question. Default: none. */
  knownAnswers?: KnownAnswers;
  models?: Record<string, Behaviour>;
  registry?: RegistrySettings;
}

export class LiveSettings {
  seed: string;
  latencyScale: number;
  recordedVotes: RecordedVotes | null;
  registry: RegistrySettings;
  readonly requiredKey: string | null;
  readonly knownAnswers: KnownAnswers;
  #behaviours: Map<string, Behaviour>;
  readonly #models = new Map<string, SimulatedModel | null>();
  readonly #initial: SettingsOptions;

  constructor(options: SettingsOptions) {
    for (const script of [options.registry ?? {}, ...Object.values(options.models ?? {})]) refuseContradiction(script);
    this.#initial = options;
    this.requiredKey = options.requiredKey ?? null;
    this.knownAnswers = options.knownAnswers ?? {};
    this.seed = options.seed ?? 'eloquent';
    this.latencyScale = options.latencyScale ?? 1;
    this.recordedVotes = options.recordedVotes ?? null;
    this.registry = options.registry ?? {};
    this.#behaviours = new Map(Object.entries(options.models ?? {}));
  }

  /** Restores the settings with which the simulator was started. */
  reset(): void {
    const { seed, latencyScale, recordedVotes, registry, models } = this.#initial;
    this.seed = seed ?? 'eloquent';
    this.latencyScale = latencyScale ?? 1;
    this.recordedVotes = recordedVotes ?? null;
    this.registry = registry ?? {};
    this.#behaviours = new Map(Object.entries(models ?? {}));
    this.#models.clear();
  }

  behaviours(): Record<string, Behaviour> {
    return Object.fromEntries(this.#behaviours);
  }

  setBehaviour(pattern: string, behaviour: Behaviour): void {
    refuseContradiction(behaviour);
    if (!this.#behaviours.has(pattern) && this.#behaviours.size >= MAX_PATTERNS)
      throw new ProviderApiError(400, `no more than ${MAX_PATTERNS} models can be set`);
    this.#behaviours.set(pattern, behaviour);
    this.#models.clear();
  }

  removeBehaviour(pattern: string): boolean {
    this.#models.clear();
    return this.#behaviours.delete(pattern);
  }

  setRegistry(registry: RegistrySettings): void {
    refuseContradiction(registry);
    this.registry = registry;
  }

  setRecordedVotes(votes: RecordedVotes | null): void {
    this.recordedVotes = votes;
    this.#models.clear();
  }

  /** The model with this id. Null if the simulator does not serve it. */
  model(id: string): SimulatedModel | null {
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    if (this.#models.size >= MAX_CACHED_MODELS) this.#models.clear();
    const model = this.#build(id);
    this.#models.set(id, model);
    return model;
  }

  /** Ids that have settings of their own, without patterns. */
  namedModels(): string[] {
    return [...this.#behaviours.keys()].filter((pattern) => !pattern.includes('*'));
  }

  #build(id: string): SimulatedModel | null {
    const matching = [...this.#behaviours]
      .filter(([pattern]) => matches(pattern, id))
      .sort(([a], [b]) => weight(a) - weight(b));
    const named = id.startsWith('sim/') || matching.some(([pattern]) => pattern !== '*');
    const behaviours = matching.map(([, behaviour]) => behaviour);
    const served = behaviours.findLast((behaviour) => behaviour.served !== undefined)?.served ?? true;
    if (!named || !served) return null;
    const model = modelOf(id, behaviours);
    const recorded = this.recordedVotes?.models.includes(model.recordedAs) ?? false;
    if (recorded && behaviours.every((behaviour) => behaviour.voter === undefined)) model.voter = 'recorded';
    return model;
  }
}

/** `*` matches any characters. */
function matches(pattern: string, id: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === id;
  const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return id.length >= head.length + tail.length && id.startsWith(head) && id.endsWith(tail);
}

const weight = (pattern: string): number => (pattern.includes('*') ? pattern.length : Number.POSITIVE_INFINITY);

function refuseContradiction(script: Script): void {
  const contradiction = contradictionIn(script);
  if (contradiction !== null) throw new ProviderApiError(400, contradiction);
}
