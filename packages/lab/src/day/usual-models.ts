import { loadPanels } from '@eloquentpoll/models/panels';

const THOUGHT_TOKENS = 250;
const perMtok = (price: bigint) => Number(price) / 1e6;

/** Simulated providers charge the prices of the roster file; reasoning models take as long as our estimates assume. */
export function usualModels() {
  return Object.fromEntries(
    loadPanels({ file: 'simulator' })
      .models()
      .map(({ id, reasoning, price: { input, output } }) => [
        id,
        {
          price: { prompt_usd_per_mtok: perMtok(input), completion_usd_per_mtok: perMtok(output) },
          reasoning_tokens: reasoning === 'low' || reasoning === 'always' ? THOUGHT_TOKENS : 0,
        },
      ]),
  );
}
