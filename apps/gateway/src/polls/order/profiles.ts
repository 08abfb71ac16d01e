import { LIMITS, type Preset } from '@eloquentpoll/contracts';

// Named bundles of a preset, a threshold and a maximum cost, for callers who do not want to choose three values. Fields
// of the poll itself override its profile.

export interface Profile {
  name: string;
  description: string;
  preset: Preset;
  confidence_threshold: number;
  max_cost_usd: number;
}

export const DEFAULT_PROFILE = 'balanced';

export const PROFILES: readonly Profile[] = [
  {
    name: 'conservative',
    description: 'Frontier models; the poll stops late.',
    preset: 'strong',
    confidence_threshold: 0.99,
    max_cost_usd: 2,
  },
  {
    name: DEFAULT_PROFILE,
    description: 'Models of diverse providers; the values of a poll that sets none of these fields.',
    preset: 'broad',
    confidence_threshold: LIMITS.confidence_threshold.default,
    max_cost_usd: LIMITS.max_cost_usd.default,
  },
  {
    name: 'quick',
    description: 'Models with low latency; the poll stops early.',
    preset: 'fast',
    confidence_threshold: 0.8,
    max_cost_usd: 0.25,
  },
];

export const profileNamed = (name: string): Profile | undefined => PROFILES.find((profile) => profile.name === name);
