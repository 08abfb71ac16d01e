// Started payments, in memory. An id contains the order's reference and amount: the same order has the same page, and
// after a restart, older ids are known to have expired.

export interface CardOrder {
  reference: string;
  cents: number;
  successUrl: string;
  cancelUrl: string;
  /** Data that the service gets back with the payment. */
  metadata: Readonly<Record<string, string>>;
}

export interface PaidOrder {
  id: string;
  cents: number;
  metadata: Readonly<Record<string, string>>;
  paidAtS: number;
}

interface Seen {
  reference: string;
  cents: number;
  state: 'open' | 'paid' | 'expired';
}

const ID = /^cs_test_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_(\d{1,9})$/;
const MAX_ORDERS = 10_000;

export class PayPages {
  readonly #orders = new Map<string, CardOrder & { paidAtS: number | null }>();

  open(order: CardOrder): string {
    const id = `cs_test_${order.reference.replaceAll('-', '')}_${order.cents}`;
    if (!this.#orders.has(id)) this.#orders.set(id, { ...order, paidAtS: null });
    const [oldest] = this.#orders.keys();
    if (this.#orders.size > MAX_ORDERS && oldest !== undefined) this.#orders.delete(oldest);
    return id;
  }

  pay(id: string): void {
    const order = this.#orders.get(id);
    if (order) order.paidAtS ??= Math.floor(Date.now() / 1_000);
  }

  /** Newest first. */
  paid(): PaidOrder[] {
    return [...this.#orders]
      .flatMap(([id, { cents, metadata, paidAtS }]) => (paidAtS === null ? [] : { id, cents, metadata, paidAtS }))
      .toSorted((a, b) => b.paidAtS - a.paidAtS);
  }

  /** An order that is open or paid. */
  find = (id: string): CardOrder | undefined => this.#orders.get(id);

  look(id: string): Seen | null {
    const order = this.#orders.get(id);
    if (order) return { ...order, state: order.paidAtS === null ? 'open' : 'paid' };
    const [whole, ...parts] = ID.exec(id) ?? [];
    return whole ? { reference: parts.slice(0, 5).join('-'), cents: Number(parts[5]), state: 'expired' } : null;
  }
}
