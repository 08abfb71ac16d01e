// The token of the simulated chain. It looks like USDC to deposits, but is worthless: its address and name are its own,
// so nothing signed for it moves money anywhere else.

export const CHAIN_ID = 84_532;
export const TOKEN = `0x${Buffer.from('play money').toString('hex').padStart(40, '0')}`;
/** The address that receives payments. */
export const PAY_TO = `0x${Buffer.from('play till').toString('hex').padStart(40, '0')}`;

export interface Move {
  from: string;
  to: string;
  nonce: string;
  value: bigint;
}

/** Encodes a value as 32 bytes of call data or topic. */
export const word = (hex: string): string => hex.replace(/^0x/i, '').toLowerCase().padStart(64, '0');

const text = (value: string): string => {
  const bytes = Buffer.from(value).toString('hex');
  return `0x${word('20')}${word(Buffer.byteLength(value).toString(16))}${bytes.padEnd(64, '0')}`;
};

/** balanceOf(address) */
export const BALANCE_OF = '0x70a08231';

const ANSWERS: Record<string, string> = {
  // name(), version(), decimals()
  '0x06fdde03': text('Play USDC'),
  '0x54fd4d50': text('2'),
  '0x313ce567': `0x${word('6')}`,
  // Every account has a million.
  [BALANCE_OF]: `0x${word((10n ** 12n).toString(16))}`,
};
/** authorizationState(address,bytes32) */
const AUTHORIZATION_STATE = '0xe94a0102';

/** The result of a call to the token. Unknown calls return nothing, like an address without a contract. */
export function callToken(data: string, isUsed: (by: Pick<Move, 'from' | 'nonce'>) => boolean): string {
  const selector = data.slice(0, 10).toLowerCase();
  if (selector !== AUTHORIZATION_STATE) return ANSWERS[selector] ?? '0x';
  const used = isUsed({ from: data.slice(34, 74), nonce: data.slice(74, 138) });
  return `0x${word(used ? '1' : '0')}`;
}
