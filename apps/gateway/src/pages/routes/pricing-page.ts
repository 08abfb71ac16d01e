import { LIMITS, PRESETS } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import { memoize } from '../../http/cache.ts';
import type { PagesContext } from '../context.ts';
import { OPTION_COUNTS, type PriceQuestion, priceList, THRESHOLD_STEPS, votePrices } from '../price-list.ts';
import { pricingPage } from '../pricing-page.ts';
import { servePage } from '../serve-page.ts';

/** GET /pricing. A page needs twenty-seven forecasts, so every possible page is cached. */
export function pricingPageRoute(app: FastifyInstance, context: PagesContext, facts: Facts): void {
  const pages = memoize<string>({
    async load(key) {
      const asked = JSON.parse(key) as PriceQuestion;
      const [list, votes] = await Promise.all([priceList(context, asked.threshold), votePrices(context, asked)]);
      return () => pricingPage(facts, { list, asked, votes });
    },
    freshMs: 60_000,
    staleMs: 300_000,
    sizeOf: (page) => 2 * page.length,
    maxEntries: PRESETS.length * OPTION_COUNTS.length * (THRESHOLD_STEPS + 1),
    maxBytes: 64 * 1024 * 1024,
  });

  servePage(app, {
    baseUrl: facts.baseUrl,
    path: '/pricing',
    operationId: 'getPricingPage',
    summary: 'Pricing page',
    query: {
      preset: 'The preset of the calculation.',
      options: 'The number of options.',
      confidence_threshold: `The threshold, rounded to a multiple of ${1 / THRESHOLD_STEPS}.`,
    },
    operation: 'compute',
    render: async (query) => (await pages(JSON.stringify(questionOf(query)))).value,
  });
}

/** Treats an invalid form value as missing. */
function questionOf(query: Readonly<Record<string, string | undefined>>): PriceQuestion {
  const options = Number(query.options);
  const threshold = Math.round(THRESHOLD_STEPS * Number(query.confidence_threshold || Number.NaN)) / THRESHOLD_STEPS;
  const { min, max } = LIMITS.options;
  return {
    preset: PRESETS.find((preset) => preset === query.preset) ?? 'broad',
    options: Number.isInteger(options) && options >= min && options <= max ? options : TYPICAL_OPTIONS,
    threshold: threshold >= 0 && threshold <= 1 ? threshold : LIMITS.confidence_threshold.default,
  };
}

const TYPICAL_OPTIONS = 3;
