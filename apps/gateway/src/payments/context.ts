import type { AccountsContext } from '../accounts/context.ts';
import { endUnpaidCheckouts } from './card/end-unpaid-checkouts.ts';
import { type Processor, stripeProcessor } from './card/processor.ts';
import { type MoneyMetrics, moneyMetrics } from './money-metrics.ts';
import { type DepositService, openDepositService } from './usdc/deposit-service.ts';

/** What taking money needs. */
export interface PaymentsContext extends AccountsContext {
  /** Takes card payments; null where none is configured. */
  readonly processor: Processor | null;
  /** Takes USDC deposits; null where none is configured. */
  readonly deposits: DepositService | null;
  readonly money: MoneyMetrics;
}

export function openPaymentsContext(base: AccountsContext, overrides: Partial<PaymentsContext>): PaymentsContext {
  const { config, metrics, storage } = base;
  const context: PaymentsContext = {
    ...base,
    processor: overrides.processor ?? (config.checkout && stripeProcessor(config.checkout, config.baseUrl)),
    deposits: overrides.deposits ?? (config.deposits && openDepositService(config.deposits, storage)),
    money: overrides.money ?? moneyMetrics(metrics),
  };
  base.endsOfPayments.push((accountId) => endUnpaidCheckouts(context, accountId));
  return context;
}
