import type { Panels } from '@eloquentpoll/models/panels';

/** Whether the roster has open-weight models. Without any, no page or document offers a free poll. */
export const runsFreePolls = ({ panels }: { panels: Pick<Panels, 'panel'> }): boolean =>
  panels.panel('free').models.length > 0;
