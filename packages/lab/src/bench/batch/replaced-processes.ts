import { cpuUs, totalCpuUs } from '../../fixture/process-cpu.ts';
import { rssBytes } from '../../fixture/rss-bytes.ts';
import type { ProcessUnderTest, Server } from '../bench.ts';

// Gateways and workers, each of which is replaced when it is killed. The CPU time of killed processes is kept.

type ReplacedRole = 'gateway' | 'worker';

export interface ReplacedProcesses extends AsyncDisposable {
  readonly kills: number;
  anyPort(): number;
  /** Kills the next process, in turn, and resolves when its replacement is ready. */
  killNext(): Promise<void>;
  /** CPU of all processes that ever had this role, in microseconds. */
  cpu(role: ReplacedRole): number;
  /** Of the largest gateway that runs now. */
  gatewayRss(): number;
}

interface Place {
  role: ReplacedRole;
  process: ProcessUnderTest & Partial<Server>;
}

export async function replacedProcesses(
  start: Record<ReplacedRole, () => Promise<Place['process']>>,
  each: number,
): Promise<ReplacedProcesses> {
  const places: Place[] = [];
  for (let i = 0; i < each; i++)
    for (const role of ['gateway', 'worker'] as const) places.push({ role, process: await start[role]() });
  const gone = { gateway: 0, worker: 0 };
  let [kills, asked] = [0, 0];
  const of = (role: ReplacedRole) => places.filter((place) => place.role === role).map(({ process }) => process);
  return {
    get kills() {
      return kills;
    },
    anyPort() {
      const gateways = of('gateway');
      asked += 1;
      return gateways[asked % gateways.length]!.port!;
    },
    async killNext() {
      const place = places[kills % places.length]!;
      kills += 1;
      gone[place.role] += cpuUs(place.process.pid);
      await place.process.kill();
      place.process = await start[place.role]();
    },
    cpu: (role) => gone[role] + totalCpuUs(of(role).map(({ pid }) => pid)),
    gatewayRss: () => Math.max(...of('gateway').map(({ pid }) => rssBytes(pid))),
    async [Symbol.asyncDispose]() {
      await Promise.all(places.map(({ process }) => process[Symbol.asyncDispose]()));
    },
  };
}
