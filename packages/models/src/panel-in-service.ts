import type { Panel } from './panel-types.ts';

const MIN_MODELS = 3;
const MIN_FAMILIES = 2;

/**
 * A panel without the models that were taken out. If too few would remain to elect anything, the panel is unchanged:
 * one bad voter is better than no poll, and the others still have the majority.
 */
export function inService<P extends Pick<Panel, 'models'>>(panel: P, out: ReadonlySet<string>): P {
  if (out.size === 0) return panel;
  const models = panel.models.filter(({ id }) => !out.has(id));
  if (models.length === panel.models.length) return panel;
  const families = new Set(models.map(({ family }) => family)).size;
  return models.length < MIN_MODELS || families < MIN_FAMILIES ? panel : { ...panel, models };
}
