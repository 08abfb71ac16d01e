import type { BoardSection } from './board-panels.ts';
import type { LivedDay } from './live-day.ts';
import type { DaySample } from './timeline.ts';

// Panels from our own samples that the board does not have: load, memory after collection, tables, queue, Redis, logs.

export function panelsOfSamples({ samples, startedAt }: LivedDay): BoardSection {
  const all = samples.filter(({ hours }) => hours !== 'over');
  const line = (name: string, of: (sample: DaySample) => number) => ({
    name,
    points: all.map((sample) => [startedAt.getTime() / 1_000 + sample.atS, of(sample)] as const),
  });
  const names = all[0]?.processes.map(({ name }) => name) ?? [];
  const ofProcess = (of: (process: DaySample['processes'][number]) => number) =>
    names.map((name) => line(name, ({ processes }) => of(processes.find((one) => one.name === name)!)));
  const tables = (all.at(-1)?.tables ?? [])
    .toSorted((a, b) => b.bytes + b.indexBytes - a.bytes - a.indexBytes)
    .map(({ name }) => name)
    .slice(0, 7);
  const ofTable = (sample: DaySample, name: string) => sample.tables.find((one) => one.name === name);
  return {
    title: 'The day: from samples of the run itself',
    panels: [
      {
        ...{ title: 'Share of the machine', unit: 'percentunit', isStacked: false },
        lines: [
          line('wanted', ({ wanted }) => wanted),
          line('taken', ({ busy }) => busy),
          line('whole machine', ({ machine }) => machine),
        ],
      },
      {
        title: 'Users begin something',
        unit: 'ops',
        isStacked: false,
        lines: [line('begun', ({ perSecond }) => perSecond)],
      },
      {
        title: 'Heap after collection, without compiled code',
        unit: 'bytes',
        isStacked: false,
        lines: ofProcess(({ heapBytes }) => heapBytes),
      },
      {
        ...{ title: 'Tables with their indexes', unit: 'bytes', isStacked: true },
        lines: tables.map((name) =>
          line(name, (sample) => (ofTable(sample, name)?.bytes ?? 0) + (ofTable(sample, name)?.indexBytes ?? 0)),
        ),
      },
      {
        ...{ title: 'Dead rows', unit: 'short', isStacked: false },
        lines: tables.map((name) => line(name, (sample) => ofTable(sample, name)?.deadRows ?? 0)),
      },
      {
        ...{ title: 'Redis', unit: 'short', isStacked: false },
        lines: [line('kB', ({ redis }) => redis.bytes / 1e3), line('keys', ({ redis }) => redis.keys)],
      },
      { title: 'Log bytes', unit: 'bytes', isStacked: false, lines: ofProcess(({ logBytes }) => logBytes) },
      { title: 'Open files', unit: 'short', isStacked: false, lines: ofProcess(({ files }) => files) },
      {
        ...{ title: 'Queues', unit: 'short', isStacked: false },
        lines: [line('standard', ({ queue }) => queue.standard), line('flex', ({ queue }) => queue.flex)],
      },
    ],
  };
}
