import type { FastifyInstance } from 'fastify';
import type { OnFailedLogin } from './accounts/login/failed-login.ts';
import { balance } from './accounts/routes/balance.ts';
import { createKey } from './accounts/routes/create-key.ts';
import { listKeys } from './accounts/routes/list-keys.ts';
import { login } from './accounts/routes/login.ts';
import { loginCallback } from './accounts/routes/login-callback.ts';
import { logout } from './accounts/routes/logout.ts';
import { me } from './accounts/routes/me.ts';
import { revokeAllKeys } from './accounts/routes/revoke-all-keys.ts';
import { revokeKey } from './accounts/routes/revoke-key.ts';
import { walletChallenge } from './accounts/routes/wallet-challenge.ts';
import { walletRevokeKey } from './accounts/routes/wallet-revoke-key.ts';
import { walletRotateKey } from './accounts/routes/wallet-rotate-key.ts';
import { walletVerify } from './accounts/routes/wallet-verify.ts';
import { a2a } from './agents/routes/a2a.ts';
import { cards } from './agents/routes/cards.ts';
import { intents } from './agents/routes/intents.ts';
import { matchIntents } from './agents/routes/match-intents.ts';
import { mcp } from './agents/routes/mcp.ts';
import type { Context } from './context.ts';
import { giveAgentHints } from './discovery/documents/agent-hints.ts';
import type { Facts } from './discovery/documents/facts.ts';
import { pollFigures } from './discovery/documents/poll-figures.ts';
import { endpointsByError } from './discovery/endpoints-by-error.ts';
import { reputations } from './discovery/reputations.ts';
import { agentSkills } from './discovery/routes/agent-skills.ts';
import { clientFile } from './discovery/routes/client-file.ts';
import { discoveryDocuments } from './discovery/routes/discovery-documents.ts';
import { docs } from './discovery/routes/docs.ts';
import { examples } from './discovery/routes/examples.ts';
import { models } from './discovery/routes/models.ts';
import { nodeSpec } from './discovery/routes/node-spec.ts';
import { oauthProtectedResource } from './discovery/routes/oauth-protected-resource.ts';
import { openapiDocument } from './discovery/routes/openapi-document.ts';
import { openidConfiguration } from './discovery/routes/openid-configuration.ts';
import { reputation } from './discovery/routes/reputation.ts';
import { surfaceTools } from './discovery/routes/surface-tools.ts';
import { surfaces } from './discovery/routes/surfaces.ts';
import { expectRoutes, type RouteRow } from './http/route-table.ts';
import { health } from './operators/routes/health.ts';
import { failedLogin } from './pages/failed-login.ts';
import { dashboard } from './pages/routes/dashboard.ts';
import { dashboardKeys } from './pages/routes/dashboard-keys.ts';
import { errorCatalog } from './pages/routes/error-catalog.ts';
import { home } from './pages/routes/home.ts';
import { modelsPage } from './pages/routes/models-page.ts';
import { pageFiles } from './pages/routes/page-files.ts';
import { playground } from './pages/routes/playground.ts';
import { pricingPage } from './pages/routes/pricing-page.ts';
import { result } from './pages/routes/result.ts';
import { surfacesPage } from './pages/routes/surfaces-page.ts';
import { checkout } from './payments/routes/checkout.ts';
import { deposit } from './payments/routes/deposit.ts';
import { stripeWebhook } from './payments/routes/stripe-webhook.ts';
import { createPoll } from './polls/routes/create-poll.ts';
import { dryRunPoll } from './polls/routes/dry-run.ts';
import { estimate } from './polls/routes/estimate.ts';
import { feedbackSummary } from './polls/routes/feedback-summary.ts';
import { giveFeedback } from './polls/routes/give-feedback.ts';
import { history } from './polls/routes/history.ts';
import { mermaid } from './polls/routes/mermaid.ts';
import { profiles } from './polls/routes/profiles.ts';
import { publicResult } from './polls/routes/public-result.ts';
import { quickPoll } from './polls/routes/quick-poll.ts';
import { recentResults } from './polls/routes/recent-results.ts';
import { runResult } from './polls/routes/run-result.ts';
import { runStatus } from './polls/routes/run-status.ts';
import { startRun } from './polls/routes/start-run.ts';
import { streamPoll } from './polls/routes/stream-poll.ts';

/**
 * Every operation: method, path, operation id, who may call it, and what registers it. A row without the last part is
 * registered by the one above it. The files that agents look for and those that pages load are not listed.
 */
export async function routes(app: FastifyInstance, { context }: { context: Context }): Promise<void> {
  const endpoints = endpointsByError(app);
  const figures = await pollFigures(context.panels);
  giveAgentHints(app, figures);
  const facts: Facts = { baseUrl: context.config.baseUrl, config: context.config, panels: context.panels, figures };
  const records = reputations(context);
  const onFailedLogin: OnFailedLogin = (...login) => failedLogin(context.config.baseUrl, ...login);

  const table: RouteRow[] = [
    ['POST', '/api/poll', 'createPoll', 'login, key or none', () => createPoll(app, context)],
    ['POST', '/api/polls', 'createSession', 'key', () => startRun(app, context)],
    ['GET', '/api/polls/:id/status', 'getSessionStatus', 'key', () => runStatus(app, context)],
    ['GET', '/api/polls/:id/result', 'getSessionResult', 'key', () => runResult(app, context)],
    ['POST', '/api/poll/stream', 'streamPoll', 'key', () => streamPoll(app, context)],
    ['GET', '/api/poll/estimate', 'estimatePoll', 'anyone', () => estimate(app, context)],
    ['POST', '/api/poll/dry-run', 'dryRunPoll', 'key', () => dryRunPoll(app, context)],
    ['POST', '/api/quick-poll', 'quickPoll', 'key or none', () => quickPoll(app, context)],
    ['GET', '/api/profiles', 'listProfiles', 'anyone', () => profiles(app)],

    ['GET', '/api/results/recent', 'listRecentResults', 'login', () => recentResults(app, context)],
    ['GET', '/api/results/:resultId', 'getResult', 'anyone', () => publicResult(app, context)],
    ['GET', '/api/results', 'listResults', 'login', () => history(app, context)],
    ['GET', '/api/graph/mermaid/:pollId', 'getMermaid', 'anyone', () => mermaid(app, context)],
    ['GET', '/api/graph/node-spec', 'getNodeSpec', 'anyone', () => nodeSpec(app, context)],

    ['POST', '/api/feedback', 'giveFeedback', 'key', () => giveFeedback(app, context)],
    ['GET', '/api/feedback/:pollId', 'getFeedback', 'anyone', () => feedbackSummary(app, context)],
    ['GET', '/api/intents', 'listIntents', 'anyone', () => intents(app)],
    ['POST', '/api/intents/match', 'matchIntents', 'anyone', () => matchIntents(app)],

    ['GET', '/api/keys', 'listKeys', 'login or key', () => listKeys(app, context)],
    ['POST', '/api/keys', 'createKey', 'login or key', () => createKey(app, context)],
    ['DELETE', '/api/keys', 'revokeAllKeys', 'login or key', () => revokeAllKeys(app, context)],
    ['DELETE', '/api/keys/:keyId', 'revokeKey', 'login or key', () => revokeKey(app, context)],

    ['GET', '/api/auth/login', 'login', 'anyone', () => login(app, context, onFailedLogin)],
    ['GET', '/api/auth/callback', 'loginCallback', 'anyone', () => loginCallback(app, context, onFailedLogin)],
    ['GET', '/api/auth/logout', 'logout', 'anyone', () => logout(app, context)],
    ['GET', '/api/auth/me', 'getCurrentUser', 'login', () => me(app, context)],
    ['GET', '/api/balance', 'getBalance', 'login', () => balance(app, context)],
    ['POST', '/api/checkout', 'createCheckout', 'login', () => checkout(app, context)],
    ['POST', '/api/webhooks/stripe', 'receiveStripeEvent', 'anyone', () => app.register(stripeWebhook, { context })],
    ['POST', '/api/deposit', 'deposit', 'anyone', () => deposit(app, context)],
    ['GET', '/api/wallet/challenge', 'getWalletChallenge', 'anyone', () => walletChallenge(app, context)],
    ['POST', '/api/wallet/verify', 'verifyWallet', 'anyone', () => walletVerify(app, context)],
    ['POST', '/api/wallet/revoke-key', 'revokeKeyByWallet', 'anyone', () => walletRevokeKey(app, context)],
    ['POST', '/api/wallet/rotate-key', 'rotateKeysByWallet', 'anyone', () => walletRotateKey(app, context)],

    ['POST', '/api/mcp', 'speakMcp', 'key', () => app.register(mcp, { context })],
    ['POST', '/api/a2a/tasks/send', 'sendTask', 'key', () => app.register(a2a, { context })],
    ['GET', '/.well-known/agent-card.json', 'getAgentCard', 'anyone', () => cards(app, context)],
    ['GET', '/.well-known/agent.json', 'getEarlyAgentCard', 'anyone'],
    ['GET', '/api/agent-card', 'getUnifiedAgentCard', 'anyone'],
    ['GET', '/.well-known/mcp/server-card.json', 'getMcpServerCard', 'anyone'],
    ['GET', '/api/mcp/server-card', 'getMcpServerCardBesideServer', 'anyone'],

    ['GET', '/api/health', 'getHealth', 'anyone', () => health(app, context)],
    ['GET', '/api/models', 'listModels', 'anyone', () => models(app, context)],
    ['GET', '/api/reputation', 'getReputation', 'anyone', () => reputation(app, records)],
    ['GET', '/api/reputation/models', 'getModelReputation', 'anyone'],
    ['GET', '/api/openapi.json', 'getOpenApi', 'anyone', () => openapiDocument(app)],
    ['GET', '/api/docs', 'getDocs', 'anyone', () => docs(app)],
    ['GET', '/api/errors/catalog', 'getErrorCatalog', 'anyone', () => errorCatalog(app, context, endpoints)],
    ['GET', '/errors/:code', 'getError', 'anyone'],
    [
      'GET',
      '/.well-known/openid-configuration',
      'getOpenIdConfiguration',
      'anyone',
      () => openidConfiguration(app, context),
    ],
    [
      'GET',
      '/.well-known/oauth-protected-resource',
      'getProtectedResource',
      'anyone',
      () => oauthProtectedResource(app, context),
    ],
    ['GET', '/.well-known/oauth-protected-resource/api/mcp', 'getMcpProtectedResource', 'anyone'],
    ['GET', '/api/surfaces', 'getSurfaces', 'anyone', () => surfaces(app)],
    ['POST', '/api/tools/list_surfaces', 'listSurfaces', 'anyone', () => surfaceTools(app)],
    ['POST', '/api/tools/get_surface', 'getSurface', 'anyone'],
    ['GET', '/api/examples', 'listExamples', 'anyone', () => examples(app, context)],
    ['GET', '/api/examples/:language', 'getExample', 'anyone'],
    ['GET', '/eloquentpoll.ts', 'getClientFile', 'anyone', () => clientFile(app, context)],
    ['GET', '/.well-known/api-catalog', 'getApiCatalog', 'anyone', () => discoveryDocuments(app, facts)],
    ['GET', '/api/routing-descriptions.json', 'getRoutingDescriptions', 'anyone'],
    ['GET', '/asyncapi.json', 'getAsyncApi', 'anyone'],
    ['GET', '/.well-known/ai-plugin.json', 'getPluginManifest', 'anyone'],
    ['GET', '/llms.txt', 'getLlms', 'anyone'],
    ['GET', '/llms-full.txt', 'getLlmsFull', 'anyone'],
    ['GET', '/robots.txt', 'getRobots', 'anyone'],
    ['GET', '/sitemap.xml', 'getSitemap', 'anyone'],
    ['GET', '/.well-known/agent-skills/index.json', 'getSkillsIndex', 'anyone', () => agentSkills(app, facts)],
    ['GET', '/', 'getHome', 'anyone', () => home(app, facts)],
    ['GET', '/playground', 'getPlayground', 'anyone', () => app.register(playground, { context, facts })],
    ['POST', '/playground', 'sendPlayground', 'anyone'],
    ['GET', '/result/:resultId', 'getResultPage', 'anyone', () => app.register(result, { context })],
    ['POST', '/result/:resultId/feedback', 'sendResultFeedback', 'login or none'],
    ['GET', '/models', 'getModelsPage', 'anyone', () => modelsPage(app, facts, records)],
    ['GET', '/pricing', 'getPricingPage', 'anyone', () => pricingPage(app, context, facts)],
    ['GET', '/surfaces', 'getSurfacesPage', 'anyone', () => surfacesPage(app, facts)],
    ['GET', '/dashboard', 'getDashboard', 'login or none', () => dashboard(app, context, facts)],
    ['POST', '/dashboard/keys', 'sendNewKey', 'login or none', () => app.register(dashboardKeys, { context, facts })],
    ['GET', '/dashboard/keys/:keyId/revoke', 'getKeyRevocation', 'login or none'],
    ['POST', '/dashboard/keys/:keyId/revoke', 'sendKeyRevocation', 'login or none'],
  ];
  const check = expectRoutes(app, table);
  for (const [, , , , register] of table) register?.();
  pageFiles(app);
  app.addHook('onReady', async () => check());
}
