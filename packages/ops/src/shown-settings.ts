// What a process may say about its settings when it starts: values that are on a list, addresses without what unlocks
// them, and of everything else only that it is set.

export interface Showable {
  /** Shown as they are. */
  plain: readonly string[];
  /** Shown without user, password, path secrets and query. */
  addresses: readonly string[];
}

export function shownSettings(
  env: Readonly<Record<string, string | undefined>>,
  { plain, addresses }: Showable,
): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '') continue;
    if (plain.includes(name)) shown[name] = value;
    else shown[name] = addresses.includes(name) ? whereTo(value) : 'set';
  }
  return shown;
}

/** Protocol, host and port, and the first word of the path, which is a database's name. */
function whereTo(address: string): string {
  const url = URL.parse(address);
  if (!url?.host) return 'set';
  const [, first = ''] = url.pathname.split('/');
  const isStore = /^(postgres|postgresql|redis|rediss):$/.test(url.protocol);
  return `${url.protocol}//${url.host}${isStore && first ? `/${first}` : ''}`;
}
