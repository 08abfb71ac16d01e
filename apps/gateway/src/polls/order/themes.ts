import { FREE_PRESETS, isJsonObject, type PanelName, type ShortPollRequest } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';
import type { FastifyRequest } from 'fastify';
import { invalid } from '../../http/api-error.ts';
import { termsOf } from './poll-order.ts';

// The panel of a theme, and whether its models search the web. Callers without an account have the free themes only; a
// request for another theme, or for a preset, is refused and never turned into a free poll.

export type CallerKind = 'known' | 'anonymous';

export const callerOf = ({ principal }: Pick<FastifyRequest, 'principal'>): CallerKind =>
  principal ? 'known' : 'anonymous';

const FREE_THEMES: readonly unknown[] = FREE_PRESETS;

/** Whether the operator would pay. Takes any body, valid or not, because the answer decides which limits apply. */
export function wantsFree(body: unknown, caller: CallerKind): boolean {
  return caller === 'anonymous' || FREE_THEMES.includes(fieldsOf(body).theme);
}

export function panelOfTheme(request: ShortPollRequest, caller: CallerKind): { panel: PanelName; search: boolean } {
  const { theme, preset, models, panel, profile } = request;
  if (theme === undefined) return { panel: caller === 'known' ? termsOf(request).panel_name : 'free', search: false };
  if (theme === 'search') return { panel: termsOf(request).panel_name, search: true };
  const other = isFree(theme)
    ? { preset, models, panel, profile }
    : { preset: preset === theme ? undefined : preset, models, panel };
  refuse(other, (field) => `${field} and theme ${theme} say different things; send one of them`);
  return { panel: theme, search: theme === 'free_search' };
}

/** For callers without an account; checked before the rest of the body. */
export function refusePaid(body: unknown): void {
  const { theme, preset, models, panel, profile, metadata } = fieldsOf(body);
  const paid = { theme: FREE_THEMES.includes(theme) ? undefined : theme, preset, models, panel, profile };
  // Values of the wrong type are left to the schema: they would be wrong with a key too.
  const sent = Object.entries(paid).filter(([, value]) => typeof value === 'string' || Array.isArray(value));
  refuse(
    Object.fromEntries(sent),
    (field) => `${field} needs an API key; without one the themes are ${FREE_PRESETS.join(' and ')}`,
  );
  if (isJsonObject(metadata)) refuse({ metadata }, (field) => `${field} needs an API key: only the account sees it`);
}

function refuse(fields: Record<string, unknown>, detail: (field: string) => string): void {
  const field = Object.keys(fields).find((name) => fields[name] !== undefined);
  if (field) throw invalid([{ pointer: `#/${field}`, detail: detail(field) }]);
}

const fieldsOf = (body: unknown): Record<string, unknown> => (isJsonObject(body) ? body : {});
