import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };
import { functionText } from './function-text.ts';
import type { Migration } from './migration.ts';

// A step may load a function whose text changes afterwards. So each release loads all of them once, after its steps: a
// database that comes from an older release then has the functions of a new one.

/** One whose arguments or result have other names or types is made anew; what depends on it would refuse that. */
const load = (name: string, text: string): string => `
do $load$ begin
  execute $text$${text}$text$;
exception when invalid_function_definition then
  execute 'drop function ${name}';
  execute $text$${text}$text$;
end $load$;`;

/** Its name changes with the release and with the texts. A release that takes a change back loads its own texts, too. */
export function functionsStep(release: string = packageJson.version): Migration {
  const names = readdirSync(new URL('../../sql/', import.meta.url))
    .map((file) => file.replace(/\.sql$/, ''))
    .sort();
  const sql = names.map((name) => load(name, functionText(name))).join('');
  const hash = createHash('sha256').update(sql).digest('hex').slice(0, 16);
  return { name: `functions-${release}-${hash}`, sql: () => sql };
}
