// One rate-limit budget per operation, whichever path or protocol is used. The numbers are defaults; operators can
// change single ones with RATE_LIMITS.

export interface Window {
  limit: number;
  seconds: number;
}

export interface WindowState {
  window: Window;
  /** Calls in the window, including the present one. */
  count: number;
  leftMs: number;
}

export interface Policy {
  /** All windows apply; the headers describe the one with the fewest calls left. */
  windows: readonly Window[];
  /** While Redis is away: paid operations use a budget of this process (`local`), free ones are refused (`closed`). */
  withoutRedis: 'local' | 'closed';
}

const per = (...windows: [limit: number, seconds: number][]): Policy => ({
  windows: windows.map(([limit, seconds]) => ({ limit, seconds })),
  withoutRedis: 'local',
});

export const BUDGETS = {
  /** Running a poll that the caller pays for. */
  poll: per([1_000, 60]),
  /** Submitting a batch; each may be as large as a file. */
  batch: per([30, 60]),
  /** Checking a batch on the dashboard before it is submitted; nothing is stored. */
  batch_check: per([60, 60]),
  /** Running a poll that the operator pays for. */
  free_poll: { ...per([60, 3_600], [300, 86_400]), withoutRedis: 'closed' },
  /** Reading one's own sessions, which high-volume clients do constantly. */
  session: per([12_000, 60]),
  /** Reading and changing one's account: keys, balance, history, feedback. Each key and login has its own budget. */
  account: per([600, 60]),
  /** Making keys, for all keys and logins of an account together, because each new key has its own `account` budget. */
  key_issue: per([240, 60]),
  /** Computed answers such as estimates, dry runs and intents; no model is called. */
  compute: per([600, 60]),
  /** Everything public: documents, results, health. */
  read: per([1_200, 60]),
  /** Proving one's identity. */
  login: per([60, 60]),
  /** Invalid keys and tokens, per network. */
  failed_authentication: per([60, 60]),
  /** Sending a test event, or a delivery again. */
  webhook_test: per([60, 60]),
  deposit: per([30, 60]),
  /** Each call opens a page at the payment processor. Many calls are a sign that stolen cards are being tested. */
  checkout: per([10, 3_600], [30, 86_400]),
  /** The same for all accounts of a network together. */
  checkout_network: per([30, 3_600], [100, 86_400]),
  /** Events of the payment processor, which come from a few networks, sometimes many at once. */
  webhook: per([6_000, 60]),
} as const satisfies Record<string, Policy>;

export type BudgetName = keyof typeof BUDGETS;
export type Policies = Readonly<Record<BudgetName, Policy>>;

/**
 * Reads `poll=100/60,free_poll=10/3600+60/86400`: calls per seconds, several windows joined by a plus. Throws a
 * sentence that names the faulty part.
 */
export function readPolicies(text: string | undefined): Policies {
  const policies: Record<BudgetName, Policy> = { ...BUDGETS };
  for (const part of (text ?? '').split(',').map((piece) => piece.trim())) {
    if (part === '') continue;
    const [name = '', windows = ''] = part.split('=');
    if (!isBudgetName(name)) {
      throw new Error(`"${part}" names no operation; they are ${Object.keys(BUDGETS).join(', ')}`);
    }
    policies[name] = { ...policies[name], windows: windows.split('+').map((window) => readWindow(window, part)) };
  }
  return policies;
}

const isBudgetName = (name: string): name is BudgetName => Object.hasOwn(BUDGETS, name);

function readWindow(text: string, part: string): Window {
  const [, limit, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,6})$/.exec(text.trim()) ?? [];
  if (!limit || !seconds) throw new Error(`"${part}" must look like poll=100/60, calls per seconds`);
  return { limit: Number(limit), seconds: Number(seconds) };
}
