import type { Logger } from '@eloquentpoll/ops';
import type { Storage } from '@eloquentpoll/storage';
import type { DepositSettings } from '../../config/payment-settings.ts';
import { type Chain, openChain } from './chain.ts';
import { type Facilitator, remoteFacilitator } from './facilitator.ts';
import { ownFacilitator } from './own-facilitator.ts';
import { openTransfers, type Transfers } from './transfers.ts';

/** What is needed for USDC deposits. */
export interface DepositService {
  settings: DepositSettings;
  facilitator: Facilitator;
  chain: Chain;
  /** All transfers of the token to and from us. */
  transfers: Transfers;
  /** How often and for how long we look for a settled transfer on the chain. */
  confirmation: { everyMs: number; timeoutMs: number };
}

export function openDepositService(
  settings: DepositSettings,
  parts: { storage: Storage; log: Logger },
): DepositService {
  const { facilitator } = settings;
  return {
    settings,
    chain: openChain(settings),
    transfers: openTransfers(settings),
    facilitator:
      'key' in facilitator ? ownFacilitator(settings, facilitator.key, parts) : remoteFacilitator(facilitator),
    confirmation: { everyMs: 500, timeoutMs: 10_000 },
  };
}
