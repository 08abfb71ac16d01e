import { loadPanels } from '@eloquentpoll/models/panels';

const THOUGHT_TOKENS = 250;
const perMtok = (price: bigint) => Number(price) / 1e6;

/** Providers charge what the roster file says, and models that reason think as long as our estimates expect. */
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
