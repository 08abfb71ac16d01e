// The limits of section 8 of the contract, and the caps that it leaves to us. Schemas, messages and documents read
// them here, so that a number is true everywhere or nowhere.

export const LIMITS = {
  question: { min: 10 },
  options: { min: 2, max: 10, length: 200 },
  confidence_threshold: { default: 0.95 },
  max_cost_usd: { default: 1, max: 25 },
  chosen_models: { min: 3, max: 15, id: 200 },
  saved_panel: { name: 40, count: 50 },
  metadata: { pairs: 16, key: 64, value: 512 },
  free: { question: 1000, options: 5, option: 50 },
  shorthand: 4000,
  key_label: 64,
  wallet_message: 4096,
  wallet_signature: 8192,
  feedback_notes: 2000,
  intent_text: 2000,
  history: { default: 20, max: 100 },
  recent: 5,
  poll_list: { default: 20, max: 100 },
  statuses: 100,
  checkout_cents: { min: 100, max: 100_000 },
  deposit_usd: { min: 1, max: 1000 },
  body_bytes: 64 * 1024,
  json_depth: 20,
} as const;
