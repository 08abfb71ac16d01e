import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '@eloquentpoll/gateway/environment';
import { root } from '@eloquentpoll/launch/folders';
import { loadPanels } from '@eloquentpoll/models/panels';

// Which variables each process reads, so that a manifest that sets another is found: a typing error there would be a
// default in production.

const OF_NODE = ['NODE_ENV', 'NODE_OPTIONS', 'HOME', 'PATH'];

export function knownSettings(app: string): Set<string> {
  if (app === 'operator') return new Set(['DATABASE_URL', 'KEY_PEPPER', 'SECRETS_FOLDER', ...OF_NODE]);
  if (app === 'gateway') return new Set([...Object.keys(readEnvironment({})), ...OF_NODE]);
  const keys = ['openrouter', 'simulator'].flatMap((file) =>
    loadPanels({ file })
      .providers()
      .flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []),
  );
  return new Set([...namesIn(join(root, 'apps', app, 'src')), ...keys, ...OF_NODE]);
}

/** Names that stand in quotes or behind `env.` in the code of the process. */
function namesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/(?:'|env\.)([A-Z][A-Z0-9_]+)\b/g)])
    .map(([, name]) => name!);
}

/** NAME_FILE is NAME out of a file (infra/image/secret-files.mjs); MODELS_FILE is itself a setting. */
export const settingOf = (variable: string): string =>
  variable === 'MODELS_FILE' ? variable : variable.replace(/_FILE$/, '');
