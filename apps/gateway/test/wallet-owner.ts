import { type HDNodeWallet, Wallet } from 'ethers';
import type { LightMyRequestResponse } from 'fastify';
import { readPolicies } from '../src/limits/policies.ts';
import type { Gateway } from './build.ts';

/** Attackers in tests are faster than any limit. */
export const NO_LOGIN_LIMIT = readPolicies('login=1000000/60');

export interface Proof {
  message: string;
  signature: string;
}

export interface WalletOwner {
  wallet: HDNodeWallet;
  /** A message to sign; `as` is another spelling of the address. */
  challenge(purpose?: string, as?: string): Promise<string>;
  sign(message: string): Promise<Proof>;
  /** A fresh challenge, signed. */
  proof(purpose?: string): Promise<Proof>;
  verify(proof?: Proof): Promise<LightMyRequestResponse>;
  rotate(proof?: Proof): Promise<LightMyRequestResponse>;
  revoke(keyId: string, proof?: Proof): Promise<LightMyRequestResponse>;
}

/** Somebody with a wallet, at some address of the Internet, and what they can ask of the service. */
export function walletOwner(
  { app }: Gateway,
  wallet: HDNodeWallet = Wallet.createRandom(),
  remoteAddress = '198.51.100.1',
): WalletOwner {
  const post = (path: string, payload: object) =>
    app.inject({ method: 'POST', url: `/api/wallet/${path}`, payload, remoteAddress });
  const challenge = async (purpose?: string, as = wallet.address): Promise<string> => {
    const query = { address: as, ...(purpose && { purpose }) };
    return (await app.inject({ url: '/api/wallet/challenge', query, remoteAddress })).json().message;
  };
  const sign = async (message: string): Promise<Proof> => ({ message, signature: await wallet.signMessage(message) });
  const proof = async (purpose?: string): Promise<Proof> => sign(await challenge(purpose));
  return {
    wallet,
    challenge,
    sign,
    proof,
    verify: async (given) => post('verify', given ?? (await proof())),
    rotate: async (given) => post('rotate-key', given ?? (await proof())),
    revoke: async (keyId, given) => post('revoke-key', { ...(given ?? (await proof())), key_id: keyId }),
  };
}
