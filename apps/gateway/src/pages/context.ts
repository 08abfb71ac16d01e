import type { DiscoveryContext } from '../discovery/context.ts';
import type { PaymentsContext } from '../payments/context.ts';

export type PagesContext = DiscoveryContext & PaymentsContext;
