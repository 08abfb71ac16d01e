import type { Panels } from '@eloquentpoll/models/panels';
import type { Config } from '../../config/config.ts';
import type { PollFigures } from './poll-figures.ts';

/** The figures that documents quote, each defined once. */
export interface Facts {
  baseUrl: string;
  config: Config;
  figures: PollFigures;
  panels: Panels;
}

/** The service's address and its models. */
export type SiteFacts = Pick<Facts, 'baseUrl' | 'panels'>;
