import type { Storage } from '@eloquentpoll/storage';
import type { DepositSettings } from '../../config/payment-settings.ts';
import { type Chain, openChain } from './chain.ts';
import { type Facilitator, remoteFacilitator } from './facilitator.ts';
import { ownFacilitator } from './own-facilitator.ts';

/** Where deposits are taken: the terms, who settles, and who is believed. */
export interface Desk {
  settings: DepositSettings;
  facilitator: Facilitator;
  chain: Chain;
  /** How often and how long the chain is asked for a transfer that should be there. */
  patience: { everyMs: number; forMs: number };
}

export function openDesk(settings: DepositSettings, storage: Storage): Desk {
  const { facilitator } = settings;
  return {
    settings,
    chain: openChain(settings),
    facilitator:
      'key' in facilitator ? ownFacilitator(settings, facilitator.key, storage) : remoteFacilitator(facilitator),
    patience: { everyMs: 500, forMs: 10_000 },
  };
}
