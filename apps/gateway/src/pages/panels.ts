import type { PanelName } from '@eloquentpoll/contracts';

/** The panels on pages, from the cheapest to the dearest. */
export const PANEL_TEXTS: readonly { name: PanelName; who: string; when: string }[] = [
  { name: 'free', who: 'Open-weight models', when: 'Quick polls without an account.' },
  { name: 'free_search', who: 'Open-weight models that search the web', when: 'Free polls about what is new.' },
  { name: 'fast', who: 'Models of low latency', when: 'A person waits for the answer. All are asked at once.' },
  { name: 'broad', who: 'Models of many makers', when: 'The default: makers differ, and so do their mistakes.' },
  { name: 'strong', who: 'Frontier models', when: 'Hard questions, where an answer may cost more.' },
];
