import { FREE_PRESETS, type PanelName, type ShortPollRequest } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';
import type { FastifyRequest } from 'fastify';
import { invalid } from '../../http/api-error.ts';
import { termsOf } from './poll-order.ts';

// What a theme means: which models are asked, and whether they search the web. Without an account only the free themes
// are there; whoever names another, or a preset, does not get a free poll instead of it.

export type Caller = 'known' | 'anonymous';

export const callerOf = ({ principal }: Pick<FastifyRequest, 'principal'>): Caller =>
  principal ? 'known' : 'anonymous';

const FREE_THEMES: readonly unknown[] = FREE_PRESETS;

/** Whether the operator would pay. For any body, however wrong: it decides which limits the body is read with. */
export function wantsFree(body: unknown, caller: Caller): boolean {
  return caller === 'anonymous' || FREE_THEMES.includes(fieldsOf(body).theme);
}

export function panelOfTheme(request: ShortPollRequest, caller: Caller): { panel: PanelName; search: boolean } {
  const { theme, preset, profile } = request;
  if (theme === undefined) return { panel: caller === 'known' ? termsOf(request).panel_name : 'free', search: false };
  if (theme === 'search') return { panel: termsOf(request).panel_name, search: true };
  const other = isFree(theme) ? { preset, profile } : { preset: preset === theme ? undefined : preset };
  refuse(other, (field) => `${field} and theme ${theme} say different things; send one of them`);
  return { panel: theme, search: theme === 'free_search' };
}

/** For a caller without an account, before anything else is said about the body. */
export function refusePaid(body: unknown): void {
  const { theme, preset, profile } = fieldsOf(body);
  const paid = { theme: FREE_THEMES.includes(theme) ? undefined : theme, preset, profile };
  refuse(paid, (field) => `${field} needs an API key; without one the themes are ${FREE_PRESETS.join(' and ')}`);
}

function refuse(fields: Record<string, unknown>, detail: (field: string) => string): void {
  const field = Object.keys(fields).find((name) => fields[name] !== undefined);
  if (field) throw invalid([{ pointer: `#/${field}`, detail: detail(field) }]);
}

const fieldsOf = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body } : {};
