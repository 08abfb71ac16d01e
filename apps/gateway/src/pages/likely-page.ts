// Suggests the page that a mistyped or guessed address probably meant.

export interface LikelyPage {
  path: string;
  name: string;
}

/** Matched by part of a word, since addresses are guessed in many forms: /price, /prices, /plans. */
const PAGES: readonly (LikelyPage & { words: RegExp })[] = [
  { path: '/pricing', name: 'Pricing', words: /pric|cost|plan/ },
  { path: '/models', name: 'Models', words: /model/ },
  { path: '/trust', name: 'How we know', words: /trust|calibrat|audit|confidence/ },
  { path: '/api/docs', name: 'the API reference', words: /doc|swagger|openapi|reference|^\/api/ },
  { path: '/?view=human#terms', name: 'Data and terms', words: /terms|privacy|legal|imprint/ },
  { path: '/dashboard', name: 'the dashboard', words: /dash|log-?in|sign|account|key|billing|balance|histor/ },
  { path: '/surfaces', name: 'All integrations', words: /surface|integrat/ },
  { path: '/connect', name: 'Connect', words: /connect|agent|mcp|guide|install/ },
  { path: '/playground', name: 'the playground', words: /play|demo|poll|ask|try/ },
  { path: '/?view=human', name: 'the homepage', words: /home|about|index/ },
];

export const likelyPage = (url: string): LikelyPage | undefined => {
  const path = url.split(/[?#]/, 1)[0]!.toLowerCase();
  return PAGES.find(({ words }) => words.test(path));
};
