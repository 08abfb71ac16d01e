/** The environment as it is: a list of names, nothing decided. Nothing else in this room reads `process.env`. */
export function readEnvironment(env: NodeJS.ProcessEnv) {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  return {
    PORT: read('PORT'),
    HOST: read('HOST'),
    BASE_URL: read('BASE_URL'),
    NODE_ENV: read('NODE_ENV'),
    DATABASE_URL: read('DATABASE_URL'),
    DATABASE_POOL: read('DATABASE_POOL'),
    REDIS_URL: read('REDIS_URL'),
    REDIS_PREFIX: read('REDIS_PREFIX'),
    KEY_PEPPER: read('KEY_PEPPER'),
    COOKIE_SECRETS: read('COOKIE_SECRETS'),
    OIDC_ISSUER: read('OIDC_ISSUER'),
    OIDC_CLIENT_ID: read('OIDC_CLIENT_ID'),
    OIDC_CLIENT_SECRET: read('OIDC_CLIENT_SECRET'),
    CHAIN_ID: read('CHAIN_ID'),
    ETH_RPC_URL: read('ETH_RPC_URL'),
    STRIPE_SECRET_KEY: read('STRIPE_SECRET_KEY'),
    STRIPE_WEBHOOK_SECRETS: read('STRIPE_WEBHOOK_SECRETS'),
    STRIPE_API_BASE: read('STRIPE_API_BASE'),
    X402_PAY_TO: read('X402_PAY_TO'),
    X402_ASSET: read('X402_ASSET'),
    X402_FACILITATOR_URL: read('X402_FACILITATOR_URL'),
    X402_FACILITATOR_TOKEN: read('X402_FACILITATOR_TOKEN'),
    X402_FACILITATOR_KEY: read('X402_FACILITATOR_KEY'),
    RECONCILE_CHECKOUTS_S: read('RECONCILE_CHECKOUTS_S'),
    RECONCILE_DEPOSITS_S: read('RECONCILE_DEPOSITS_S'),
    MODELS_FILE: read('MODELS_FILE'),
    MODELS_BASE_URL: read('MODELS_BASE_URL'),
    MODELS_REGISTRY_URL: read('MODELS_REGISTRY_URL'),
    MCP_USER_ID_BEARER: read('MCP_USER_ID_BEARER'),
    TRUST_PROXY: read('TRUST_PROXY'),
    RATE_LIMITS: read('RATE_LIMITS'),
    FREE_DAILY_CAP_USD: read('FREE_DAILY_CAP_USD'),
    CONTENT_SIGNAL: read('CONTENT_SIGNAL'),
    CONTACT_EMAIL: read('CONTACT_EMAIL'),
    LOG_LEVEL: read('LOG_LEVEL'),
    GIT_COMMIT: read('GIT_COMMIT'),
  };
}

export type Environment = ReturnType<typeof readEnvironment>;
