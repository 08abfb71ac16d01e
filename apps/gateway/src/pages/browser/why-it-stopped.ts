// Why a poll asked no further models, in words. The page of a result and the view of a running poll say the same.

export interface StopFacts {
  status: 'success' | 'partial' | 'failed';
  termination_reason: string | null;
  /** Models whose vote was asked and ended. */
  asked: number;
  skipped: number;
  confidence: number | null;
  confidence_threshold: number | null;
}

export function whyItStopped(ending: StopFacts): string {
  const { asked, skipped } = ending;
  const panel = asked + skipped;
  const after = skipped > 0 ? `Stopped after ${asked} of ${panel} models` : `All ${panel} models were asked`;
  return `${after}${because(ending)}${saved(ending)}`;
}

function because(ending: StopFacts): string {
  const { confidence, confidence_threshold: threshold, skipped } = ending;
  switch (ending.termination_reason) {
    case 'mathematical_lock':
      return skipped > 0 ? ': no vote that is missing could have changed the outcome.' : ', and the outcome is locked.';
    case 'confidence':
      return `: the full panel would elect the same winner with a probability of ${sure(confidence)}, and ${sure(threshold)} was asked for.`;
    case 'budget':
      return ': nothing that was left fitted into the budget.';
    case 'roster_exhausted':
      return '.';
    default:
      return skipped > 0 || ending.status === 'partial' ? ': the time of the poll was up.' : '.';
  }
}

const saved = ({ skipped, termination_reason: reason }: StopFacts): string =>
  skipped === 0 || (reason !== 'confidence' && reason !== 'mathematical_lock')
    ? ''
    : ` ${skipped === 1 ? 'One model was' : `${skipped} models were`} not needed, and cost nothing.`;

/** Rounded down, so that only a locked outcome is 100 %. */
export function sure(probability: number | null): string {
  if (probability === null) return '–';
  const tenths = Math.floor(probability * 1_000 + 1e-9) / 10;
  return `${Number.isInteger(tenths) ? tenths : tenths.toFixed(1)} %`;
}

const ERRORS: Record<string, string> = {
  timeout: 'no answer in time',
  refusal: 'refused to vote',
  invalid_choice: 'named no option',
  malformed: 'answer not readable',
  rate_limited: 'turned away by its provider',
  provider_error: 'its provider failed',
  aborted: 'stopped while answering',
};

/** What became of a vote that is no vote. */
export const voteError = (code: string | null): string => ERRORS[code ?? ''] ?? 'no vote';
