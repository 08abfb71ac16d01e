import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadPanels, type Panels, type Timeouts } from '@eloquentpoll/models/panels';

// Panels made for one experiment: providers with short patience, so that minutes of waiting fit into seconds.

export const IMPATIENT: Timeouts = { connect_ms: 500, first_byte_ms: 1_500, idle_ms: 1_000, total_ms: 4_000 };

export interface MadeModel {
  id: string;
  provider: string;
  family: string;
}

const CALM = ['ash', 'bay', 'elm', 'fir', 'yew'].map((family) => ({ id: `sim/${family}-calm`, family }));

/** Writes the file and reads it as a worker will. Presets are needed by the form; polls here name their own models. */
export async function makePanels(
  folder: string,
  providers: Readonly<Record<string, string>>,
  models: readonly MadeModel[],
): Promise<{ file: string; panels: Panels }> {
  const [first] = Object.keys(providers);
  const all = [...models, ...CALM.map((calm) => ({ ...calm, provider: first! }))];
  const calm = { models: CALM.map(({ id }) => id) };
  const json = {
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, url]) => [
        name,
        { base_url: url, trace_headers: true, connections: 256, timeouts: IMPATIENT },
      ]),
    ),
    models: all.map((model) => ({
      ...model,
      open_weight: true,
      price: { input: '1', output: '4' },
      answer: 'tool',
      max_output_tokens: 400,
      p50_ms: 100,
      p90_ms: 200,
      concurrency: 256,
    })),
    presets: { broad: calm, strong: calm, fast: calm, free: calm, free_search: calm },
  };
  const file = join(folder, 'rosters.json');
  await writeFile(file, JSON.stringify(json));
  return { file, panels: loadPanels({ file }) };
}
