import type { Attributes, Span, Tracer } from '@eloquentpoll/ops';
import type { Claim } from '@eloquentpoll/storage';

// Continues the trace of a poll: one span for the job, a child of the gateway's span that accepted the poll, and below
// it one span per vote and one for storing the result.

export interface JobTraces {
  begin(claim: Claim): void;
  /** The job is over for this worker, even if the poll has not ended. */
  end(pollId: string, error: string | null): void;
  /** A step of the job. Null if traces are not collected. */
  step(pollId: string, name: string, kind: 'internal' | 'client', attributes?: Attributes): Span | null;
}

export const NO_TRACES: JobTraces = { begin() {}, end() {}, step: () => null };

export function jobTraces(tracer: Tracer): JobTraces {
  const jobs = new Map<string, Span>();
  return {
    begin({ id, epoch, claims, requestId, spec, traceparent }) {
      const attributes = { poll_id: id, panel: spec.panel_name, epoch, claims };
      const all = requestId === null ? attributes : { ...attributes, request_id: requestId };
      jobs.set(id, tracer.start('job', 'consumer', traceparent, all));
    },
    end(pollId, error) {
      jobs.get(pollId)?.end({}, error);
      jobs.delete(pollId);
    },
    step: (pollId, name, kind, attributes) => tracer.start(name, kind, jobs.get(pollId)?.traceparent, attributes),
  };
}
