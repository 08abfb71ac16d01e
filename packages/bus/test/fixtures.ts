import type { ProgressSnapshot, Vote } from '@eloquentpoll/contracts';

export const snapshot = (seq: number, more: Partial<ProgressSnapshot> = {}): ProgressSnapshot => ({
  seq,
  poll_id: 'ps_a',
  status: 'running',
  models_requested: 3,
  progress: { received: seq, succeeded: seq, failed: 0, total: 3 },
  tally: [seq, 0],
  leader: seq ? 0 : null,
  confidence: null,
  vote: null,
  result_id: null,
  result: null,
  elapsed_ms: 1,
  ...more,
});

export const vote = (seat: number): Vote => ({
  seat,
  model_id: `sim/m${seat}`,
  option: 0,
  error: null,
  latency_ms: 5,
  billed_u: 10,
  provider_cost_u: null,
  labels: ['QJ', 'ZR'],
  calls: 1,
  searched: false,
});
