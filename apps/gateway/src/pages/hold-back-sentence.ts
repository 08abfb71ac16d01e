import type { HoldBackRules } from '@eloquentpoll/storage';
import { percent, usd } from './figures.ts';

/** Says, before a card payment is made, how much of it can be spent at once. */
export const holdBackSentence = ({ days, share, freeU }: HoldBackRules): string =>
  days === 0 || share === 0
    ? 'The full amount is credited.'
    : `The full amount is credited. Until your first card payment has settled, after ${days} days, ${percent(share)} of it cannot be spent; ${usd(Number(freeU) / 1e6)} always can.`;
