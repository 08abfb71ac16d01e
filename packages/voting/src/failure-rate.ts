/**
 * The more models are expected to fail, the more certain a leader looks. So failure rates are capped: with a rate of
 * 0.95 for two remaining models, a lead of 4:3 would look 96 % certain.
 */
export const MAX_FAILURE_RATE = 0.3;
