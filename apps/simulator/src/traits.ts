import type { Behaviour, Script, Voter } from './behaviour.ts';
import { draws } from './seeded.ts';

// The defaults of a simulated model: family, price and latency follow from its id alone. So any id that starts with
// sim/ is a model, and stays the same between runs.

export interface Latency {
  p50_ms: number;
  sigma: number;
  straggler_rate: number;
  straggler_factor: number;
}

export interface ListPrice {
  prompt_usd_per_mtok: number;
  completion_usd_per_mtok: number;
}

export interface SimulatedModel {
  id: string;
  family: string;
  country: string;
  voter: Voter;
  agreement: number;
  temperature: number;
  skill: number;
  recordedAs: string;
  latency: Latency;
  price: ListPrice;
  reasoningTokens: number;
  /** Null: the usual reason. */
  rationale: string | null;
  script: Script;
}

const COUNTRIES = ['CA', 'CN', 'DE', 'FR', 'IL', 'KR', 'US', 'US'] as const;

/** The name determines the size, and the size determines speed and price. */
const SIZES = [
  { words: /\b(mini|nano|flash|quick|fast|small|lite|tiny|[1-9]b)\b/, p50_ms: 150, prompt_usd_per_mtok: 0.05 },
  { words: /\b(large|pro|max|ultra|frontier|heavy|\d{3,}b)\b/, p50_ms: 700, prompt_usd_per_mtok: 1.5 },
] as const;
const MIDDLE = { p50_ms: 350, prompt_usd_per_mtok: 0.3 };

/** Pairwise agreement above chance, as measured for panels of language models on recorded questions. */
export const DEFAULT_AGREEMENT = 0.5;

/** `sim/oak-large` becomes `oak-large`. */
export const nameOf = (id: string): string => id.slice(id.indexOf('/') + 1);
export const familyOf = (id: string): string =>
  nameOf(id)
    .split(/[-_.:@]/, 1)[0]!
    .toLowerCase();

/** The model with this id and the settings that apply to it, most specific last. */
export function modelOf(id: string, settings: readonly Behaviour[]): SimulatedModel {
  const draw = draws('traits', id);
  const country = COUNTRIES[Math.floor(draws('country', familyOf(id))() * COUNTRIES.length)]!;
  const size = SIZES.find(({ words }) => words.test(nameOf(id).toLowerCase())) ?? MIDDLE;
  const promptPrice = round(size.prompt_usd_per_mtok * 3 ** draw(), 3);
  const model: SimulatedModel = {
    id,
    family: familyOf(id),
    country,
    voter: 'opinion',
    agreement: DEFAULT_AGREEMENT,
    temperature: 1,
    skill: 1,
    recordedAs: nameOf(id),
    latency: {
      p50_ms: Math.round(size.p50_ms * 2 ** draw()),
      sigma: round(0.25 + 0.3 * draw(), 3),
      straggler_rate: 0.02,
      straggler_factor: 6,
    },
    price: { prompt_usd_per_mtok: promptPrice, completion_usd_per_mtok: round(promptPrice * (3 + 2 * draw()), 3) },
    reasoningTokens: 0,
    rationale: null,
    script: {},
  };
  for (const setting of settings) apply(model, setting);
  return model;
}

function apply(model: SimulatedModel, setting: Behaviour): void {
  model.voter = setting.voter ?? model.voter;
  model.agreement = setting.agreement ?? model.agreement;
  model.temperature = setting.temperature ?? model.temperature;
  model.skill = setting.skill ?? model.skill;
  model.recordedAs = setting.recorded_as ?? model.recordedAs;
  model.reasoningTokens = setting.reasoning_tokens ?? model.reasoningTokens;
  model.rationale = setting.rationale ?? model.rationale;
  Object.assign(model.latency, setting.latency);
  Object.assign(model.price, setting.price);
  if (setting.failures !== undefined || setting.steps !== undefined) model.script = setting;
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
