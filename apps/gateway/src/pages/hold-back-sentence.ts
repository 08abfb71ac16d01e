import type { HoldBackRules } from '@eloquentpoll/storage';
import { percent, usd } from './figures.ts';

/** Says, before a card payment is made, how much of it can be spent at once. */
export const holdBackSentence = ({ days, share, freeU }: HoldBackRules): string =>
  days === 0 || share === 0
    ? 'The full amount is credited.'
    : `The full amount is credited. A payment settles after ${days} days; until then ${percent(share)} of it cannot be spent, but ${usd(Number(freeU) / 1e6)} of all such payments always can. Once one payment has settled, later ones can be spent in full at once.`;
