import type { Batch } from '../eloquentpoll.ts';
import { costText, durationText, plural } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { fit } from './plain-text.ts';
import { canRedraw, canvas, columnsOf, print, styleOf } from './terminal.ts';

// Shows the progress of a batch on standard error: as a bar on a terminal, else as a line for each further tenth.

export interface BatchView {
  show(batch: Batch): void;
  /** Removes the progress, so that results can be printed. */
  end(): void;
}

export const endedRows = ({ counts, skipped: _skipped }: Batch): number =>
  counts.total - counts.waiting - counts.running;

export function batchView({ terminal, json }: Invocation): BatchView {
  if (json) return { show: () => {}, end: () => {} };
  const screen = { ...terminal, out: terminal.err };
  const eta = etaFrom(performance.now());
  if (!canRedraw(screen, 3)) {
    let shown = -1;
    return {
      show(batch) {
        const tenth = Math.floor((10 * endedRows(batch)) / Math.max(1, batch.counts.total));
        if (tenth > shown) print(terminal.err, `${figures(batch)}${eta(batch)}`);
        shown = Math.max(shown, tenth);
      },
      end: () => {},
    };
  }
  const { draw } = canvas(terminal.err);
  const ink = styleOf(screen);
  return {
    show(batch) {
      const columns = columnsOf(screen);
      const share = endedRows(batch) / Math.max(1, batch.counts.total);
      const bar = barOf(share, Math.min(40, columns - 7));
      draw([`${ink.lead(bar)} ${Math.floor(100 * share)}%`, ink.dim(fit(`${figures(batch)}${eta(batch)}`, columns))]);
    },
    end: () => draw([]),
  };
}

function barOf(share: number, columns: number): string {
  const full = Math.floor(share * columns);
  return `${'█'.repeat(full)}${'░'.repeat(columns - full)}`;
}

function figures(batch: Batch): string {
  const { counts, cost_usd, status } = batch;
  return [
    `${endedRows(batch)} of ${plural(counts.total, 'row')}`,
    ...(counts.running > 0 ? [`${counts.running} running`] : []),
    ...(counts.partial > 0 ? [`${counts.partial} partial`] : []),
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    costText(cost_usd),
    ...(status === 'canceling' ? ['canceling'] : []),
  ].join(' · ');
}

/** Estimated from the rows that ended while this command watched. */
function etaFrom(began: number): (batch: Batch) => string {
  let first: number | null = null;
  return (batch) => {
    const ended = endedRows(batch);
    first ??= ended;
    const left = batch.counts.total - ended;
    if (ended === first || left === 0) return '';
    const ms = ((performance.now() - began) / (ended - first)) * left;
    return ` · about ${durationText(ms)} left`;
  };
}
