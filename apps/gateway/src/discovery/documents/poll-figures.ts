import type { Estimate, RosterPanel } from '@eloquentpoll/contracts';
import { PRESETS } from '@eloquentpoll/contracts';
import { openHealth } from '@eloquentpoll/models/health';
import type { Panels } from '@eloquentpoll/models/panels';
import type { Config } from '../../config/config.ts';
import { estimatePoll } from '../../polls/order/estimate-poll.ts';
import { shortOrder } from '../../polls/order/short-order.ts';
import { panelOfTheme } from '../../polls/order/themes.ts';
import { typicalOrder } from '../../polls/order/typical-poll.ts';

export type PollFigures = Readonly<Record<Exclude<RosterPanel, 'free_search'>, Estimate>>;

const FREE_POLL = { question: 'Which of the two is the usual choice?', options: ['The first', 'The second'] };

/**
 * Costs and latencies of polls from the roster file only, so that documents change only with a deployment.
 * GET /api/poll/estimate uses current measurements.
 */
export async function pollFigures({ panels, config }: { panels: Panels; config: Config }): Promise<PollFigures> {
  const health = openHealth({ redis: { hgetall: async () => ({}) }, prefix: '', panels });
  const modelsOut = { now: async () => new Map() };
  const unaudited = { panels, modelsOut, health, config, trackRecords: { of: async () => null } };
  const [broad, fast, strong] = await Promise.all(
    PRESETS.map((preset) => estimatePoll(unaudited, typicalOrder({ preset }))),
  );
  const free = await estimatePoll(unaudited, shortOrder(FREE_POLL, FREE_POLL, panelOfTheme(FREE_POLL, 'anonymous')));
  return { broad: broad!, fast: fast!, strong: strong!, free };
}

/** Two significant digits. */
export const aboutUsd = (usd: number): string => (usd === 0 ? '$0' : `$${Number(usd.toPrecision(2))}`);
export const aboutSeconds = (ms: number): string => `${Number((ms / 1_000).toPrecision(2))} s`;
