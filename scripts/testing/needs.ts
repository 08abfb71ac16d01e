import { reachableTexts } from './import-graph.ts';

// A test file needs what it, or a module that it loads, requires from the environment. If this misses a need,
// `requireEnv` or `openBrowser` fails: nothing is skipped silently. Without bundles, apps are started from their sources.

export type Need = 'postgres' | 'redis' | 'browser' | 'bundles';

const ASKS: Readonly<Record<Need, RegExp>> = {
  postgres: /requireEnv\('TEST_(?:DATABASE_URL|TEMPLATE_DATABASE)'\)/,
  redis: /requireEnv\('TEST_REDIS_URL'\)/,
  browser: /\bfindChromium\(/,
  bundles: /\bappProgram\(/,
};

export function needsOf(files: readonly string[]): ReadonlySet<Need> {
  const open = new Map(Object.entries(ASKS)) as Map<Need, RegExp>;
  const needs = new Set<Need>();
  for (const file of files)
    for (const text of reachableTexts(file)) {
      for (const [need, asks] of open) if (asks.test(text) && open.delete(need)) needs.add(need);
      if (open.size === 0) return needs;
    }
  return needs;
}
