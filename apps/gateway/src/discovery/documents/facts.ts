import type { Panels } from '@eloquentpoll/models/panels';
import type { Config } from '../../config/config.ts';
import type { PollFigures } from './poll-figures.ts';

/** What every text about the service is written from, so that no number is written twice. */
export interface Facts {
  baseUrl: string;
  config: Config;
  figures: PollFigures;
  panels: Panels;
}
