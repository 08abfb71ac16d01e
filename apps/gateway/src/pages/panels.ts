import type { RosterPanel } from '@eloquentpoll/contracts';

/** The panels on pages, from the cheapest to the most expensive. */
export const PANEL_TEXTS: readonly { name: RosterPanel; who: string; when: string }[] = [
  { name: 'free', who: 'Open-weight models', when: 'Quick polls without an account.' },
  { name: 'free_search', who: 'Open-weight models that search the web', when: 'Free polls about recent events.' },
  { name: 'fast', who: 'Low-latency models', when: 'All asked at once. For a person who waits for the answer.' },
  { name: 'broad', who: 'Models from many vendors', when: 'The default. Different vendors make different mistakes.' },
  { name: 'strong', who: 'Frontier models', when: 'For hard questions worth paying for.' },
];

/** The name for people; programs use the name as it is. */
export const panelTitle = (name: string): string => name.replace('_', ' ');
