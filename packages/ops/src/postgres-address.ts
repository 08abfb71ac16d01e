// Where Postgres is, as DATABASE_URL says it: one server, or a primary and its standbys in any order.
//   postgres://user:password@host:5432/name
//   postgres://user:password@one:5432,two:5432/name?target_session_attrs=read-write

const FORM = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?#]+)([^?#]*)(?:\?([^#]*))?$/;
/** With several hosts the one that takes writes is meant, whether it is said or not. */
const TARGET = 'target_session_attrs';
const MEANT = ['read-write', 'primary'];

/** The same address for each of its hosts; null for a text of another form. */
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
