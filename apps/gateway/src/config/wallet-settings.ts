import { httpsUrl, SettingError } from '@eloquentpoll/ops/settings';
import type { GatewayValues } from './settings-table.ts';

export interface WalletSettings {
  /** The chain that wallets use to sign in. */
  chainId: number;
  /** Nodes that must all accept a contract wallet's signature; empty without support for contract wallets. */
  contractNodes: readonly string[];
}

/** A node decides who owns a contract wallet, so in production it must be reached by https. */
export function walletSettings(values: GatewayValues): WalletSettings {
  const { CHAIN_ID: chainId, CONTRACT_WALLETS, ETH_RPC_URL, ETH_RPC_SECOND_URL } = values;
  for (const name of ['ETH_RPC_URL', 'ETH_RPC_SECOND_URL'] as const) {
    const url = values[name];
    if (url && values.NODE_ENV === 'production' && httpsUrl.read(url) === undefined)
      throw new SettingError(name, `must be ${httpsUrl.form}, in production`);
  }
  if (
    ETH_RPC_SECOND_URL !== undefined &&
    new URL(ETH_RPC_SECOND_URL).host === (ETH_RPC_URL && new URL(ETH_RPC_URL).host)
  )
    throw new SettingError('ETH_RPC_SECOND_URL', 'must be a node of another host than ETH_RPC_URL');
  if (!CONTRACT_WALLETS) return { chainId, contractNodes: [] };
  if (ETH_RPC_URL === undefined) throw new SettingError('ETH_RPC_URL', 'is not set, though CONTRACT_WALLETS is on');
  return {
    chainId,
    contractNodes: ETH_RPC_SECOND_URL === undefined ? [ETH_RPC_URL] : [ETH_RPC_URL, ETH_RPC_SECOND_URL],
  };
}
