const ERRORS: Record<string, string> = {
  timeout: 'timed out',
  refusal: 'refused to vote',
  invalid_choice: 'picked no option',
  malformed: 'unreadable answer',
  rate_limited: 'rate-limited',
  provider_error: 'provider error',
  aborted: 'canceled',
};

/** Describes why a model gave no vote. */
export const voteError = (code: string | null): string => ERRORS[code ?? ''] ?? 'no vote';
