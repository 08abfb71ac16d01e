import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '@eloquentpoll/launch/failure';
import { toolsFolder } from '@eloquentpoll/launch/folders';
import { freePort } from './free-port.ts';
import { fetchWithApt } from './from-apt.ts';
import type { ProcessGroup, RunningProcess } from './process-group.ts';
import { installedProgram, type Program, unpackedProgram, type WantedProgram } from './program.ts';
import { serverFailure } from './server-failure.ts';

// A real Prometheus on loopback: from the PATH, the copy of an earlier run, or the system's package archive.

export interface Prometheus {
  url: string;
  version: string;
  process: RunningProcess;
}

/** A process that is scraped; its labels are added to each of its series. */
export interface ScrapeTarget {
  /** For example `http://127.0.0.1:9100`; its metrics are at /metrics. */
  url: string;
  labels: Readonly<Record<string, string>>;
}

export interface PrometheusOptions {
  group: ProcessGroup;
  targets: readonly ScrapeTarget[];
  /** The `groups` of rules in JSON or YAML, as Prometheus reads them. */
  rules: string;
  scrapeEveryS: number;
  stage: number;
  env?: NodeJS.ProcessEnv;
  /** Where a fetched copy is kept. */
  tools?: string;
}

/** Both come in one package. */
type ProgramName = 'prometheus' | 'promtool';
const wanted = (name: ProgramName): WantedProgram => ({
  names: [name],
  versionFlag: '--version',
  readVersion: (output) => new RegExp(`^${name}, version (\\d\\S*)`, 'm').exec(output)?.[1] ?? null,
});
const START_MS = 30_000;

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { group, stage } = options;
  const program = await findPrometheus('prometheus', options.env ?? process.env, options.tools);
  const folder = join(group.folder, 'prometheus');
  const [config, rules] = [join(group.folder, 'prometheus.json'), join(group.folder, 'prometheus-rules.json')];
  writeFileSync(rules, options.rules);
  writeFileSync(config, JSON.stringify(settingsOf(options, rules)));
  const port = await freePort();
  const running = group.start({
    name: 'prometheus',
    file: program.file,
    args: [
      ...program.args,
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    env: program.env,
    stage,
    grace_ms: 3_000,
  });
  const url = `http://127.0.0.1:${port}`;
  if (!(await untilReady(url, running))) throw serverFailure('Prometheus', folder, running);
  return { url, version: program.version, process: running };
}

const settingsOf = ({ targets, scrapeEveryS }: PrometheusOptions, rules: string) => ({
  global: { scrape_interval: `${scrapeEveryS}s`, evaluation_interval: `${scrapeEveryS}s` },
  rule_files: [rules],
  scrape_configs: [
    {
      job_name: 'product',
      static_configs: targets.map(({ url, labels }) => ({ targets: [new URL(url).host], labels })),
    },
  ],
});

export async function findPrometheus(name: ProgramName, env: NodeJS.ProcessEnv, tools = toolsFolder): Promise<Program> {
  const program = wanted(name);
  const kept = join(tools, 'prometheus');
  return (
    (await installedProgram(program, env)) ??
    (await unpackedProgram(program, kept)) ??
    ((await fetchWithApt(kept, [['prometheus']], env)) ? await unpackedProgram(program, kept) : null) ??
    refuse()
  );
}

function refuse(): never {
  throw new Failure('There is no Prometheus here and none could be fetched: install prometheus 2.40 or newer.');
}

async function untilReady(url: string, running: RunningProcess): Promise<boolean> {
  const until = performance.now() + START_MS;
  while (!running.hasEnded && performance.now() < until) {
    const isReady = await fetch(`${url}/-/ready`).then(
      async (answer) => {
        await answer.arrayBuffer();
        return answer.ok;
      },
      () => false,
    );
    if (isReady) return true;
    await delay(50);
  }
  return false;
}
