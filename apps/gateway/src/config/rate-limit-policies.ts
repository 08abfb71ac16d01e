// How often whom: one budget per operation, whatever path or protocol it is reached by. The numbers are defaults; the
// operator changes single ones with RATE_LIMITS.

export interface Window {
  limit: number;
  seconds: number;
}

export interface WindowState {
  window: Window;
  /** Calls in it, the present one included. */
  count: number;
  leftMs: number;
}

export interface Policy {
  /** All of them apply; the headers name the one with the least left. */
  windows: readonly Window[];
  /** What happens while Redis is away: a local budget for what is paid for, nothing for what is free. */
  withoutRedis: 'local' | 'closed';
}

const per = (...windows: [limit: number, seconds: number][]): Policy => ({
  windows: windows.map(([limit, seconds]) => ({ limit, seconds })),
  withoutRedis: 'local',
});

export const BUDGETS = {
  /** Running a poll that its caller pays for. */
  poll: per([1_000, 60]),
  /** Handing over many polls: each may be as large as a file. */
  batch: per([30, 60]),
  /** Looking at a batch on the dashboard before it is handed over: nothing is stored. */
  batch_check: per([60, 60]),
  /** Running a poll that the operator pays for. */
  free_poll: { ...per([60, 3_600], [300, 86_400]), withoutRedis: 'closed' },
  /** Reading one's own sessions: what high-volume clients do all day. */
  session: per([12_000, 60]),
  /** Reading and writing one's account: keys, balance, history, feedback. Each key and each login has its own. */
  account: per([600, 60]),
  /** Making keys, of all keys and logins of an account together: each new key has a budget of `account` of its own. */
  key_issue: per([240, 60]),
  /** Estimates, dry runs, intents: computed, no model is called. */
  compute: per([600, 60]),
  /** Everything public: documents, results, health. */
  read: per([1_200, 60]),
  /** Proving who one is. */
  login: per([60, 60]),
  /** Keys and tokens that are not valid, by the network they come from. */
  failed_authentication: per([60, 60]),
  /** Having a message sent somewhere: a test event, or a delivery once more. */
  webhook_test: per([60, 60]),
  deposit: per([30, 60]),
  /** Each opens a page at the payment processor; many are how stolen cards are tried out. */
  checkout: per([10, 3_600], [30, 86_400]),
  /** The same of all accounts of a network. */
  checkout_network: per([30, 3_600], [100, 86_400]),
  /** Events of the payment processor, which come from a few networks, sometimes many at once. */
  webhook: per([6_000, 60]),
} as const satisfies Record<string, Policy>;

export type BudgetName = keyof typeof BUDGETS;
export type Policies = Readonly<Record<BudgetName, Policy>>;

/**
 * `poll=100/60,free_poll=10/3600+60/86400`: calls per seconds, several windows joined by a plus. Throws a sentence that
 * names the part at fault.
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
