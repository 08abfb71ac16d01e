import { canonicalJson } from '../canonical-json.ts';
import { textHash } from '../hashes.ts';
import { fails, holds, type PartState, unchecked } from '../part.ts';
import type { ReceiptPrice, Statement } from '../receipt.ts';

/** Checks that the price matches the hash in the statement, and stays within its own limits. */
export async function checkPrice(
  { panel, votes, price_sha256 }: Statement,
  price: ReceiptPrice | null,
): Promise<PartState> {
  if (price === null) return unchecked('Only the owner of the poll can show what it cost.');
  if ((await textHash(canonicalJson(price))) !== price_sha256) return fails('This is not the price that was signed.');
  const { max_cost_u, reserves_u } = price;
  if (reserves_u.length !== panel.length || price.votes.length !== votes.length)
    return fails('The price is of another panel or of other votes.');
  const costs = price.votes.map(({ billed_u, fault_u }) => billed_u + fault_u);
  const isWithin = costs.every((cost, i) => cost <= reserves_u[votes[i]!.seat]!) && sum(costs) <= max_cost_u;
  return isWithin
    ? holds('It is the price that was signed, and within the limits of the poll.')
    : fails('A vote or the poll costs more than it may.');
}

const sum = (costs: readonly number[]): number => costs.reduce((total, cost) => total + cost, 0);
