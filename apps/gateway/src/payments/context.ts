import type { AccountsContext } from '../accounts/context.ts';
import { endUnpaidCheckouts } from './card/end-unpaid-checkouts.ts';
import { type Processor, stripeProcessor } from './card/processor.ts';
import { type MoneyMetrics, moneyMetrics } from './money-metrics.ts';
import { type DepositService, openDepositService } from './usdc/deposit-service.ts';

/** What is needed to take payments. */
export interface PaymentsContext extends AccountsContext {
  /** Takes card payments; null when not configured. */
  readonly processor: Processor | null;
  /** Takes USDC deposits; null when not configured. */
  readonly deposits: DepositService | null;
  readonly money: MoneyMetrics;
}

export function openPaymentsContext(base: AccountsContext, overrides: Partial<PaymentsContext>): PaymentsContext {
  const { config, metrics } = base;
  const context: PaymentsContext = {
    ...base,
    processor: overrides.processor ?? (config.checkout && stripeProcessor(config.checkout, config.baseUrl)),
    deposits: overrides.deposits ?? (config.deposits && openDepositService(config.deposits, base)),
    money: overrides.money ?? moneyMetrics(metrics),
  };
  base.endsOfPayments.push((accountId) => endUnpaidCheckouts(context, accountId));
  return context;
}
