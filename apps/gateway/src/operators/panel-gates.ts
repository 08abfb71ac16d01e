import { ROSTER_PANELS } from '@eloquentpoll/contracts';
import type { Metrics } from '@eloquentpoll/ops';
import { hasAlarm, MAX_FEW_OPTIONS, orderInEffect } from '@eloquentpoll/voting';
import { askingNow, WAYS_OF_ASKING } from '../polls/order/asking-now.ts';
import type { OperatorsContext } from './context.ts';

// Metrics of which panels are asked cheapest first, as this process accepts polls.

const MANY = MAX_FEW_OPTIONS + 1;
const KINDS = [
  ['few', MAX_FEW_OPTIONS],
  ['many', MANY],
] as const;

export function panelGates(context: OperatorsContext, metrics: Metrics): void {
  const eachPanel = () =>
    Promise.all(
      WAYS_OF_ASKING.map(async ({ panel_name, search, name: panel }) => {
        const poll = { panel_name, options: new Array<string>(MANY).fill(''), search };
        return { ...(await askingNow(context, poll)), panel };
      }),
    );
  for (const panel of ROSTER_PANELS) metrics.counter('eloquentpoll_audits_drawn_total', panel);
  metrics.reading('eloquentpoll_panel_audits', async () =>
    (await eachPanel()).map(({ panel, known }) => [[panel], known?.audits ?? 0] as const),
  );
  metrics.reading('eloquentpoll_panel_alarm', async () =>
    (await eachPanel()).map(({ panel, known }) => [[panel], known && hasAlarm(known.certificates) ? 1 : 0] as const),
  );
  metrics.reading('eloquentpoll_panel_gate_open', async () =>
    (await eachPanel()).flatMap(({ panel, roster, known }) =>
      KINDS.map(([options, count]) => {
        const order = orderInEffect(
          roster?.order ?? 'shuffled',
          count,
          known?.certificates ?? null,
          context.config.audits.gate,
        );
        return [[panel, options], order === 'cheapest' ? 1 : 0] as const;
      }),
    ),
  );
}
