import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { loadPanels, type Panels } from '../src/panels.ts';

// A small roster file for one test: every field can be replaced, deep down, before it is loaded.

type Json = Record<string, unknown>;

/** Far longer than any answer takes, on a machine that does much else too. */
export const TIMEOUTS = { connect_ms: 10_000, first_byte_ms: 10_000, idle_ms: 10_000, total_ms: 20_000 };
/** For providers that do not answer. */
export const SHORT_TIMEOUTS = { connect_ms: 250, first_byte_ms: 250, idle_ms: 250, total_ms: 20_000 };

export function modelEntry(id: string, rest: Json = {}): Json {
  return {
    id,
    provider: 'one',
    family: id.replace(/^.*\//, '').replace(/-.*$/, ''),
    open_weight: true,
    price: { input: '1', output: '2' },
    answer: 'json_schema',
    max_output_tokens: 400,
    p50_ms: 10,
    p90_ms: 20,
    ...rest,
  };
}

export const FIVE = ['t/ash-1', 't/bay-1', 't/cob-1', 't/dew-1', 't/elm-1'];

/** A file that is right, as plain JSON. */
export function panelJson(models: Json[] = [], providers: Json = {}): Json {
  const extra = models.map((model) => model.id);
  const members = [...models, ...FIVE.filter((id) => !extra.includes(id)).map((id) => modelEntry(id))];
  return {
    providers: { one: { base_url: 'http://127.0.0.1:9/v1', timeouts: TIMEOUTS }, ...providers },
    models: members,
    presets: Object.fromEntries(
      ['broad', 'strong', 'fast', 'free', 'free_search'].map((name) => [name, { models: FIVE }]),
    ),
  };
}

export function rosterFile(t: Test, content: unknown): string {
  const file = join(t.testdir(), 'rosters.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

/** Models at providers whose addresses are given by name. */
export function testPanels(t: Test, urls: Record<string, string>, models: Json[] = [], provider: Json = {}): Panels {
  const providers = Object.fromEntries(
    Object.entries(urls).map(([name, base_url]) => [name, { base_url, timeouts: TIMEOUTS, ...provider }]),
  );
  return loadPanels({ file: rosterFile(t, panelJson(models, providers)) });
}
