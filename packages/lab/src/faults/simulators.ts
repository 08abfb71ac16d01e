import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Behaviour } from '@eloquentpoll/simulator/app';
import type { Call } from './history.ts';
import type { Household, Service } from './processes.ts';

// Simulated models in a process of their own, and what they remember of their calls.

export interface SimulatorSettings {
  seed?: string;
  latency_scale?: number;
  call_log_size?: number;
  models?: Record<string, Behaviour>;
  votes_file?: string;
}

export interface SimulatorProcess {
  readonly service: Service;
  readonly url: string;
  /** What a panel's `base_url` says. */
  readonly modelsUrl: string;
  calls(): Promise<Call[]>;
}

const PAGE = 20_000;

export async function startSimulator(
  home: Household,
  folder: string,
  settings: SimulatorSettings,
  port = 0,
): Promise<SimulatorProcess> {
  const file = join(folder, `simulator-${port}-${Date.now()}.json`);
  await writeFile(file, JSON.stringify(settings));
  const service = await home.start('simulator', '@eloquentpoll/simulator/main', {
    SIMULATOR_CONFIG: file,
    PORT: String(port),
  });
  const url = String(service.ready.url);
  return {
    service,
    url,
    modelsUrl: `${url}/v1`,
    async calls() {
      const found: Call[] = [];
      for (let after = -1; ; ) {
        const page = await read(`${url}/_control/calls?limit=${PAGE}${after < 0 ? '' : `&after=${after}`}`);
        if (page.total > page.kept) throw new Error(`the simulator forgot ${page.total - page.kept} calls`);
        for (const { poll, seat, attempt, asked_at, at } of page.calls)
          if (poll !== null && seat !== null && asked_at !== null)
            found.push({ pollId: poll, seat, attempt: attempt ?? 1, madeAt: asked_at, at: Date.parse(at) });
          else throw new Error('a call in the log does not say whose it is');
        if (page.calls.length < PAGE) return found;
        after = page.calls.at(-1)!.n;
      }
    },
  };
}

interface Page {
  total: number;
  kept: number;
  calls: {
    n: number;
    at: string;
    poll: string | null;
    seat: number | null;
    attempt: number | null;
    asked_at: number | null;
  }[];
}

async function read(url: string): Promise<Page> {
  const response = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  if (!response.ok) throw new Error(`the simulator answered ${response.status} for its log`);
  return (await response.json()) as Page;
}
