import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';

// Which models may vote in a poll and what a vote costs, derived from the roster file and the published prices alone.
// The product's packages for panels and bills are not used, so that they are checked independently.

export interface VotingPanel {
  readonly models: readonly string[];
  /** The ratio of what the caller pays to what the provider charges; null if the free pool pays. */
  readonly factor: number | null;
}

export type PresetName = 'broad' | 'fast' | 'strong';
export type Tier = 'standard' | 'flex';

const RosterFile = Type.Object({
  presets: Type.Record(Type.String(), Type.Object({ models: Type.Array(Type.String(), { minItems: 1 }) })),
});
const { presets } = readJson(RosterFile, readFileSync(join(root, 'packages/models/rosters/simulator.json'), 'utf8'));

export const presetPanel = (name: PresetName, tier: Tier = 'standard'): VotingPanel => ({
  models: presets[name]!.models,
  factor: priceFactor(name, tier),
});

export const namedPanel = (models: readonly string[]): VotingPanel => ({
  models,
  factor: priceFactor('custom', 'standard'),
});

/** For callers without a key, who pay nothing. */
export const freePanel = (): VotingPanel => ({ models: presets.free!.models, factor: null });

/** The defaults in docs/settings.md: `ABORTED_SHARES`, `PAYMENT_FEE_SHARE`, `FLEX_PRICE_PPM`. */
const STOPPED = { broad: 0.22, fast: 0.27, strong: 0.08, custom: 0.12 };
const [FEE, FLEX] = [0.059, 0.85];

export function priceFactor(panel: PresetName | 'custom', tier: Tier): number {
  const standard = 1 / ((1 - STOPPED[panel]) * (1 - FEE));
  return tier === 'standard' ? standard : Math.min(standard, Math.max(1 / (1 - FEE), FLEX * standard));
}

const MARGIN = /(\d+)% in (?:<code>(broad|fast|strong)<\/code> polls|polls with <code>models)/g;

/** Differences between the margins on the pricing page, in whole percent, and these. */
export function marginProblems(page: string): string[] {
  const said = [...page.matchAll(MARGIN)].map(([, margin, preset = 'custom']) => `${preset} ${margin}`);
  const due = (['standard', 'flex'] as const).flatMap((tier) =>
    (['broad', 'fast', 'strong', 'custom'] as const).map(
      (panel) => `${panel} ${(100 * (priceFactor(panel, tier) - 1)).toFixed(0)}`,
    ),
  );
  return said.join() === due.join() ? [] : [`its margins are ${said.join(', ')}, not ${due.join(', ')}`];
}
