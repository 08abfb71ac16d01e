// The ledger in memory: running balances, and the transfers that they must match.

/** A statement that the database would refuse because of a constraint or a rule of the ledger. It had no effect. */
export class Refused extends Error {
  override name = 'Refused';
}

export interface Transfer {
  readonly kind: 'credit' | 'hold' | 'post' | 'void';
  readonly accountId: string;
  readonly amountU: bigint;
  /** The poll of the hold, and of its post or void. */
  readonly pollId: string | null;
}

interface Balance {
  postedU: bigint;
  heldU: bigint;
  usedU: bigint;
}

export interface Books {
  credit(accountId: string, amountU: bigint): void;
  /** False if the balance is too low. */
  hold(accountId: string, amountU: bigint, pollId: string): boolean;
  /** False if the hold was resolved before. */
  resolve(pollId: string, amountU: bigint): boolean;
  availableU(accountId: string): bigint;
  readonly balances: ReadonlyMap<string, Balance>;
  readonly transfers: readonly Transfer[];
}

export function modelLedger(): Books {
  const balances = new Map<string, Balance>();
  const transfers: Transfer[] = [];
  const holdOf = (pollId: string) => transfers.find((each) => each.kind === 'hold' && each.pollId === pollId);
  const resolved = (pollId: string) =>
    transfers.some((each) => (each.kind === 'post' || each.kind === 'void') && each.pollId === pollId);
  const availableU = (accountId: string): bigint => {
    const balance = balances.get(accountId);
    return balance ? balance.postedU - balance.heldU : 0n;
  };
  return {
    balances,
    transfers,
    availableU,
    credit(accountId, amountU) {
      const balance = balances.get(accountId) ?? { postedU: 0n, heldU: 0n, usedU: 0n };
      balance.postedU += amountU;
      balances.set(accountId, balance);
      transfers.push({ kind: 'credit', accountId, amountU, pollId: null });
    },
    hold(accountId, amountU, pollId) {
      if (availableU(accountId) < amountU) return false;
      balances.get(accountId)!.heldU += amountU;
      transfers.push({ kind: 'hold', accountId, amountU, pollId });
      return true;
    },
    resolve(pollId, amountU) {
      const hold = holdOf(pollId);
      if (!hold) throw new Refused('no hold');
      if (amountU > hold.amountU) throw new Refused('a capture does not fit into its hold');
      if (resolved(pollId)) return false;
      const balance = balances.get(hold.accountId)!;
      balance.postedU -= amountU;
      balance.usedU += amountU;
      balance.heldU -= hold.amountU;
      const kind = amountU === 0n ? 'void' : 'post';
      transfers.push({ kind, accountId: hold.accountId, amountU: amountU === 0n ? hold.amountU : amountU, pollId });
      return true;
    },
  };
}
