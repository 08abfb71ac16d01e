import { notice } from '../components.ts';
import { usd } from '../figures.ts';
import { type Html, html } from '../html.ts';

export interface BalanceLevel {
  /** The balance including held money, in micro-USD. */
  postedU: bigint;
  /** The balance counts as low below this amount; null: never. */
  lowU: bigint | null;
}

export const lowBalanceBanner = ({ postedU, lowU }: BalanceLevel): Html =>
  lowU !== null && postedU < lowU
    ? notice(
        html`<p><strong>Your balance is low.</strong> ${usd(Number(postedU) / 1_000_000)} is left; you asked to be warned below ${usd(Number(lowU) / 1_000_000)}. <a href="/dashboard#funds">Add funds</a></p>`,
        'warn',
      )
    : html``;
