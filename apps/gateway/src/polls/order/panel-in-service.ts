import { inService, type Panel } from '@eloquentpoll/models/panels';
import type { PollOrder } from '@eloquentpoll/polls';
import type { FailedModel } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';

type Needs = Pick<PollsContext, 'panels' | 'modelsOut'>;

/** The panel without models that failed their tests. A custom panel keeps them, because the caller chose them. */
export async function panelInService(
  { panels, modelsOut }: Needs,
  order: Pick<PollOrder, 'panel_name' | 'models'>,
): Promise<Panel> {
  const panel = panels.panelOf(order);
  return order.panel_name === 'custom' ? panel : reduced(panel, await modelsOut.now());
}

type Out = ReadonlyMap<string, FailedModel>;
const kept = new WeakMap<Panel, { out: Out; panel: Panel }>();

/** Returns the same object while the same models are out, because roster versions are cached per panel object. */
function reduced(panel: Panel, out: Out): Panel {
  const known = kept.get(panel);
  if (known?.out === out) return known.panel;
  const made = { out, panel: inService(panel, new Set(out.keys())) };
  kept.set(panel, made);
  return made.panel;
}
