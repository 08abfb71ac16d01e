import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import { type DaySpan, readCurves } from './alarms.ts';
import type { DrawnPanel } from './draw-panel.ts';

// The panels of the Grafana board: runs their queries on the day's Prometheus.

const Board = Type.Object({
  panels: Type.Array(
    Type.Object({
      type: Type.String(),
      title: Type.String(),
      gridPos: Type.Object({ w: Type.Number() }),
      fieldConfig: Type.Optional(
        Type.Object({
          defaults: Type.Optional(
            Type.Object({
              unit: Type.Optional(Type.String()),
              custom: Type.Optional(Type.Object({ stacking: Type.Optional(Type.Object({ mode: Type.String() })) })),
            }),
          ),
        }),
      ),
      targets: Type.Optional(
        Type.Array(Type.Object({ expr: Type.String(), legendFormat: Type.Optional(Type.String()) })),
      ),
    }),
  ),
});

export interface BoardSection {
  readonly title: string;
  readonly panels: readonly DrawnPanel[];
}

const POINTS = 90;
const MIN_STEP_S = 5;

export async function readBoard(url: string, span: DaySpan): Promise<BoardSection[]> {
  const { panels } = readJson(Board, readFileSync(join(root, 'infra/monitoring/board.json'), 'utf8'));
  const seconds = (span.to.getTime() - span.from.getTime()) / 1_000;
  const stepS = Math.max(MIN_STEP_S, Math.ceil(seconds / POINTS));
  const sections: { title: string; panels: DrawnPanel[] }[] = [{ title: 'Now', panels: [] }];
  for (const { type, title, fieldConfig, targets = [] } of panels) {
    if (type === 'row') {
      sections.push({ title, panels: [] });
      continue;
    }
    const { unit = 'short', custom } = fieldConfig?.defaults ?? {};
    const lines = [];
    for (const { expr, legendFormat = '' } of targets) {
      const ofAll = expr.replaceAll('$namespace', '.*');
      for (const { labels, points } of await readCurves(url, ofAll, { ...span, stepS }))
        lines.push({ name: legendOf(legendFormat, labels), points });
    }
    sections.at(-1)!.panels.push({ title, unit, isStacked: custom?.stacking?.mode === 'normal', lines });
  }
  return sections.filter((section) => section.panels.length > 0);
}

const legendOf = (format: string, labels: Readonly<Record<string, string>>): string =>
  format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => labels[name] ?? '').trim();
