import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GATEWAY_SETTINGS } from '@eloquentpoll/gateway/settings';
import { root } from '@eloquentpoll/launch/folders';
import { loadPanels, settingsOf } from '@eloquentpoll/models/panels';
import { readSetting, type Table } from '@eloquentpoll/ops/settings';
import { WORKER_SETTINGS } from '@eloquentpoll/worker/settings';

// Compares what a manifest sets with what the process reads: a misspelt name would be a default in production.

const OF_NODE = ['NODE_ENV', 'NODE_OPTIONS', 'HOME', 'PATH'];
const TABLES: Record<string, Table> = { gateway: GATEWAY_SETTINGS, worker: WORKER_SETTINGS };
const OPERATOR = ['ADMIN_TOKEN', 'DATABASE_URL', 'MIGRATE_DATABASE_URL', 'KEY_PEPPER', 'OPS_URL', 'SECRETS_FOLDER'];
const SECRET_FILE = /^\/run\//;

/** What is wrong with a variable that a manifest sets for a process. */
export function settingProblems(app: string, variable: string, value: string): string[] {
  const name = settingOf(variable);
  const row = TABLES[app]?.[name];
  if (!row && !otherSettings(app).has(name)) return [`${app} does not read ${variable}`];
  if (isSecret(app, name)) return SECRET_FILE.test(value) ? [] : [`${app}: ${variable} is a secret and not a file`];
  // Compose fills in ${...}; an empty value counts as unset.
  if (!row || value.trim() === '' || value.includes('$')) return [];
  try {
    readSetting(name, row, value);
    return [];
  } catch (error) {
    return [`${app}: ${error instanceof Error ? error.message : error}`];
  }
}

const isSecret = (app: string, name: string): boolean =>
  /^(MIGRATE_DATABASE|DATABASE|REDIS)_URL$|PEPPER|_API_KEY$/.test(name) || TABLES[app]?.[name]?.reader.shown === 'set';

function otherSettings(app: string): Set<string> {
  if (app === 'operator') return new Set([...OPERATOR, ...OF_NODE]);
  if (app === 'simulator') return new Set([...namesIn(join(root, 'apps/simulator/src')), ...OF_NODE]);
  return new Set([...(app === 'worker' ? providerKeys() : []), ...OF_NODE]);
}

const providerKeys = (): string[] =>
  ['openrouter', 'mixed', 'groq', 'together', 'fireworks', 'azure', 'bedrock'].flatMap((file) =>
    loadPanels({ file }).providers().flatMap(settingsOf),
  );

/** Names that stand in quotes or behind `env.` in the code of the process. */
function namesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/(?:'|env\.)([A-Z][A-Z0-9_]+)\b/g)])
    .map(([, name]) => name!);
}

/** NAME_FILE is NAME out of a file (infra/image/secret-files.mjs); MODELS_FILE is itself a setting. */
const settingOf = (variable: string): string =>
  variable === 'MODELS_FILE' ? variable : variable.replace(/_FILE$/, '');
