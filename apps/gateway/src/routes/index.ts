import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { createPoll } from './4-1-polling/create-poll.ts';
import { createSession } from './4-1-polling/create-session.ts';
import { dryRunPoll } from './4-1-polling/dry-run.ts';
import { estimate } from './4-1-polling/estimate.ts';
import { profiles } from './4-1-polling/profiles.ts';
import { quickPoll } from './4-1-polling/quick-poll.ts';
import { sessionResult } from './4-1-polling/session-result.ts';
import { sessionStatus } from './4-1-polling/session-status.ts';
import { history } from './4-2-results/history.ts';
import { mermaid } from './4-2-results/mermaid.ts';
import { nodeSpec } from './4-2-results/node-spec.ts';
import { publicResult } from './4-2-results/public-result.ts';
import { recentResults } from './4-2-results/recent-results.ts';
import { feedbackSummary } from './4-3-feedback/feedback-summary.ts';
import { giveFeedback } from './4-3-feedback/give-feedback.ts';
import { intents } from './4-3-feedback/intents.ts';
import { matchIntents } from './4-3-feedback/match-intents.ts';
import { createKey } from './4-4-api-keys/create-key.ts';
import { listKeys } from './4-4-api-keys/list-keys.ts';
import { revokeKey } from './4-4-api-keys/revoke-key.ts';
import { balance } from './4-5-account/balance.ts';
import { checkout } from './4-5-account/checkout.ts';
import { deposit } from './4-5-account/deposit.ts';
import { login } from './4-5-account/login.ts';
import { loginCallback } from './4-5-account/login-callback.ts';
import { logout } from './4-5-account/logout.ts';
import { me } from './4-5-account/me.ts';
import { stripeWebhook } from './4-5-account/stripe-webhook.ts';
import { walletChallenge } from './4-5-account/wallet-challenge.ts';
import { walletRevokeKey } from './4-5-account/wallet-revoke-key.ts';
import { walletRotateKey } from './4-5-account/wallet-rotate-key.ts';
import { walletVerify } from './4-5-account/wallet-verify.ts';
import { a2a } from './4-6-agent-protocols/a2a.ts';
import { cards } from './4-6-agent-protocols/cards.ts';
import { mcp } from './4-6-agent-protocols/mcp.ts';
import { docs } from './4-7-system/docs.ts';
import { errorCatalog } from './4-7-system/error-catalog.ts';
import { health } from './4-7-system/health.ts';
import { models } from './4-7-system/models.ts';
import { oauthProtectedResource } from './4-7-system/oauth-protected-resource.ts';
import { openapiDocument } from './4-7-system/openapi-document.ts';
import { openidConfiguration } from './4-7-system/openid-configuration.ts';
import { reputation } from './4-7-system/reputation.ts';
import { endpointsByError } from './endpoints-by-error.ts';

/** Every operation, in the order of section 4 of the contract. */
export async function routes(app: FastifyInstance, { context }: { context: Context }): Promise<void> {
  const endpoints = endpointsByError(app);

  createPoll(app, context);
  createSession(app, context);
  sessionStatus(app, context);
  sessionResult(app, context);
  estimate(app, context);
  dryRunPoll(app, context);
  quickPoll(app, context);
  profiles(app);

  recentResults(app, context);
  publicResult(app, context);
  history(app, context);
  mermaid(app, context);
  nodeSpec(app, context);

  giveFeedback(app, context);
  feedbackSummary(app, context);
  intents(app);
  matchIntents(app);

  listKeys(app, context);
  createKey(app, context);
  revokeKey(app, context);

  login(app, context);
  loginCallback(app, context);
  logout(app, context);
  me(app, context);
  balance(app, context);
  checkout(app, context);
  app.register(stripeWebhook, { context });
  deposit(app, context);
  walletChallenge(app, context);
  walletVerify(app, context);
  walletRevokeKey(app, context);
  walletRotateKey(app, context);

  app.register(mcp, { context });
  app.register(a2a, { context });
  cards(app, context);

  app.register(mcp, { context });

  health(app, context);
  models(app, context);
  reputation(app, context);
  openapiDocument(app);
  docs(app);
  errorCatalog(app, context, endpoints);
  openidConfiguration(app, context);
  oauthProtectedResource(app, context);
}
