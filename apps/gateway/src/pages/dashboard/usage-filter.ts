import { NO_KEY, PANEL_NAMES, type PanelName } from '@eloquentpoll/contracts';
import { isKeyId } from '../../accounts/keys/revoke-key.ts';
import type { PageQuery } from '../routes/serve-account-page.ts';

// The filter of the usage page is in its address, so that it works without scripts and can be shared.

export const RANGES = [7, 30, 90] as const;
export const GROUPINGS = ['key', 'preset', 'surface'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Query parameters with their descriptions. */
export const USAGE_QUERY = {
  days: '7, 30 or 90, up to today.',
  by: 'How chart and table are grouped: `key`, `preset` or `surface`.',
  key: `Id of a key, or \`${NO_KEY}\` for polls of a login.`,
  preset: 'Panel of the polls.',
  surface: 'Surface, such as `rest` or `mcp`.',
};

export interface UsageAsked {
  days: (typeof RANGES)[number];
  by: Grouping;
  key?: string | undefined;
  preset?: PanelName | undefined;
  surface?: string | undefined;
}

/** Ignores values that it does not understand. */
export const readUsageAsked = ({ days, by, key, preset, surface }: PageQuery): UsageAsked => ({
  days: RANGES.find((range) => String(range) === days) ?? 30,
  by: GROUPINGS.find((grouping) => grouping === by) ?? 'key',
  key: key === NO_KEY || (key && isKeyId(key)) ? key : undefined,
  preset: PANEL_NAMES.find((name) => name === preset),
  surface: surface && /^[\w.:-]{1,40}$/.test(surface) ? surface : undefined,
});

export function usageAddress(path: string, asked: UsageAsked, more: Record<string, string> = {}): string {
  const { days, by, key, preset, surface } = asked;
  const query = new URLSearchParams({ days: String(days), by });
  for (const [name, value] of Object.entries({ key, preset, surface, ...more }))
    if (value !== undefined) query.set(name, value);
  return `${path}?${query}`;
}
