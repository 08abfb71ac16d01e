import { ADDRESS_SETTING } from './check-provider.ts';
import type { Provider } from './panel-types.ts';

/** The value of a setting, such as a key or the region inside an address. */
export type ProviderSetting = (name: string) => string | undefined;

/** Names of the settings that a provider needs, including its key. */
export const settingsOf = ({ apiKeyEnv, baseUrl }: Provider): string[] => [
  ...(apiKeyEnv === null ? [] : [apiKeyEnv]),
  ...[...baseUrl.matchAll(ADDRESS_SETTING)].map(([, name]) => name!),
];

/** The provider's address with its settings filled in. Throws if one is missing or is not allowed in an address. */
export function addressOf({ name, baseUrl }: Provider, setting: ProviderSetting): string {
  return baseUrl.replace(ADDRESS_SETTING, (_, variable: string) => {
    const value = setting(variable)?.trim();
    if (!value) throw new Error(`Provider ${name} has no address: set ${variable}`);
    if (/^[A-Za-z0-9]([A-Za-z0-9.-]{0,126}[A-Za-z0-9])?$/.test(value)) return value;
    throw new Error(`Provider ${name}: ${variable} must be letters, digits, dots and hyphens, as in an address`);
  });
}

/** The provider's key. Null if it needs none. Throws if it is missing. */
export function providerKeyOf({ name, apiKeyEnv, keyRequired }: Provider, setting: ProviderSetting): string | null {
  const key = apiKeyEnv === null ? undefined : setting(apiKeyEnv);
  if (keyRequired && !key) throw new Error(`Provider ${name} has no key: set ${apiKeyEnv}`);
  return key || null;
}

export function headersOf({ takes, headers }: Provider, key: string | null): Record<string, string> {
  const { keyHeader } = takes;
  return {
    ...takes.headers,
    ...headers,
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'eloquentpoll',
    ...(key !== null && { [keyHeader]: keyHeader === 'authorization' ? `Bearer ${key}` : key }),
  };
}

export const PATHS = { chat: '/chat/completions', messages: '/messages' } as const;
