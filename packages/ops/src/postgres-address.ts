// Parses DATABASE_URL: one Postgres server, or a primary and its standbys in any order.
//   postgres://user:password@host:5432/name
//   postgres://user:password@one:5432,two:5432/name?target_session_attrs=read-write

const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?#]+)([^?#]*)(?:\?([^#]*))?$/;
/** With several hosts, the primary is always meant, whether the address says so or not. */
const TARGET = 'target_session_attrs';
const MEANT = ['read-write', 'primary'];

/** One address per host. Null if the text is malformed. */
export function postgresUrls(text: string): string[] | null {
  const [, head, hosts = '', path = '', query = ''] = FORM.exec(text) ?? [];
  if (head === undefined) return null;
  const options = new URLSearchParams(query);
  if (!options.getAll(TARGET).every((target) => MEANT.includes(target))) return null;
  options.delete(TARGET);
  const rest = `${path}${options.size > 0 ? `?${options}` : ''}`;
  const urls = hosts.split(',').map((host) => `${head}${host}${rest}`);
  return urls.every((url) => URL.parse(url)?.hostname) ? urls : null;
}
