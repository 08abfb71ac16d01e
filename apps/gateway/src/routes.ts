import type { FastifyInstance } from 'fastify';
import type { OnFailedLogin } from './accounts/login/failed-login.ts';
import { balanceRoute } from './accounts/routes/balance.ts';
import { changeKeyRoute } from './accounts/routes/change-key.ts';
import { createKeyRoute } from './accounts/routes/create-key.ts';
import { deleteAccountRoute } from './accounts/routes/delete-account.ts';
import { listKeysRoute } from './accounts/routes/list-keys.ts';
import { loginRoute } from './accounts/routes/login.ts';
import { loginCallbackRoute } from './accounts/routes/login-callback.ts';
import { logoutRoute } from './accounts/routes/logout.ts';
import { meRoute } from './accounts/routes/me.ts';
import { redeemGrantRoute } from './accounts/routes/redeem-grant.ts';
import { revokeAllKeysRoute } from './accounts/routes/revoke-all-keys.ts';
import { revokeKeyRoute } from './accounts/routes/revoke-key.ts';
import { usageRoute } from './accounts/routes/usage.ts';
import { usageBalanceRoutes } from './accounts/routes/usage-balance.ts';
import { walletChallengeRoute } from './accounts/routes/wallet-challenge.ts';
import { walletDeleteAccountRoute } from './accounts/routes/wallet-delete-account.ts';
import { walletRevokeKeyRoute } from './accounts/routes/wallet-revoke-key.ts';
import { walletRotateKeyRoute } from './accounts/routes/wallet-rotate-key.ts';
import { walletVerifyRoute } from './accounts/routes/wallet-verify.ts';
import { webhookDeliveryRoutes } from './accounts/routes/webhook-deliveries.ts';
import { webhookEndpointRoutes } from './accounts/routes/webhook-endpoints.ts';
import { webhookSecretRoutes } from './accounts/routes/webhook-secrets.ts';
import { a2aRoute } from './agents/routes/a2a.ts';
import { agentCardRoutes } from './agents/routes/cards.ts';
import { chatCompletionsRoute } from './agents/routes/chat-completions.ts';
import { chatModelRoutes } from './agents/routes/chat-models.ts';
import { intentsRoute } from './agents/routes/intents.ts';
import { matchIntentsRoute } from './agents/routes/match-intents.ts';
import { mcpRoute } from './agents/routes/mcp.ts';
import { batchReportRoute } from './batches/routes/batch-report.ts';
import { batchResultsRoute } from './batches/routes/batch-results.ts';
import { cancelBatchRoute } from './batches/routes/cancel-batch.ts';
import { createBatchRoute } from './batches/routes/create-batch.ts';
import { deleteBatchRoute } from './batches/routes/delete-batch.ts';
import { getBatchRoute } from './batches/routes/get-batch.ts';
import { listBatchesRoute } from './batches/routes/list-batches.ts';
import type { Context } from './context.ts';
import { calibrations } from './discovery/calibrations.ts';
import { giveAgentHints } from './discovery/documents/agent-hints.ts';
import type { Facts } from './discovery/documents/facts.ts';
import { pollFigures } from './discovery/documents/poll-figures.ts';
import { endpointsByError } from './discovery/endpoints-by-error.ts';
import { reputations } from './discovery/reputations.ts';
import { agentSkillRoutes } from './discovery/routes/agent-skills.ts';
import { calibrationRoutes } from './discovery/routes/calibration.ts';
import { clientFileRoutes } from './discovery/routes/client-files.ts';
import { discoveryDocumentRoutes } from './discovery/routes/discovery-documents.ts';
import { exampleRoutes } from './discovery/routes/examples.ts';
import { modelsRoute } from './discovery/routes/models.ts';
import { nodeSpecRoute } from './discovery/routes/node-spec.ts';
import { protectedResourceRoutes } from './discovery/routes/oauth-protected-resource.ts';
import { openapiDocumentRoute } from './discovery/routes/openapi-document.ts';
import { openidConfigurationRoute } from './discovery/routes/openid-configuration.ts';
import { reputationRoutes } from './discovery/routes/reputation.ts';
import { siteFileRoutes } from './discovery/routes/site-files.ts';
import { surfaceToolRoutes } from './discovery/routes/surface-tools.ts';
import { surfacesRoute } from './discovery/routes/surfaces.ts';
import { expectRoutes, type RouteRow } from './http/route-table.ts';
import { healthRoute } from './operators/routes/health.ts';
import { failedLogin } from './pages/failed-login.ts';
import { connectRoutes } from './pages/routes/connect.ts';
import { dashboardRoute } from './pages/routes/dashboard.ts';
import { dashboardBatchRoutes } from './pages/routes/dashboard-batches.ts';
import { dashboardDeleteRoutes } from './pages/routes/dashboard-delete.ts';
import { dashboardKeyRoutes } from './pages/routes/dashboard-keys.ts';
import { dashboardPollsRoutes } from './pages/routes/dashboard-polls.ts';
import { dashboardReportRoute } from './pages/routes/dashboard-report.ts';
import { dashboardUsageRoutes } from './pages/routes/dashboard-usage.ts';
import { dashboardWebhookRoutes } from './pages/routes/dashboard-webhooks.ts';
import { docsRoute } from './pages/routes/docs.ts';
import { errorCatalogRoutes } from './pages/routes/error-catalog.ts';
import { grantRoutes } from './pages/routes/grant.ts';
import { homeRoute } from './pages/routes/home.ts';
import { modelPageRoute } from './pages/routes/model-page.ts';
import { modelsPageRoute } from './pages/routes/models-page.ts';
import { pageFileRoutes } from './pages/routes/page-files.ts';
import { playgroundRoutes } from './pages/routes/playground.ts';
import { pricingPageRoute } from './pages/routes/pricing-page.ts';
import { resultPageRoutes } from './pages/routes/result.ts';
import { surfacesPageRoute } from './pages/routes/surfaces-page.ts';
import { trustPageRoute } from './pages/routes/trust-page.ts';
import { checkoutRoute } from './payments/routes/checkout.ts';
import { depositRoute } from './payments/routes/deposit.ts';
import { stripeWebhookRoute } from './payments/routes/stripe-webhook.ts';
import { cancelRunRoute } from './polls/routes/cancel-run.ts';
import { createPollRoute } from './polls/routes/create-poll.ts';
import { deleteResultRoute } from './polls/routes/delete-result.ts';
import { dryRunRoute } from './polls/routes/dry-run.ts';
import { estimateRoute } from './polls/routes/estimate.ts';
import { exportRoute } from './polls/routes/export.ts';
import { feedbackSummaryRoute } from './polls/routes/feedback-summary.ts';
import { giveFeedbackRoute } from './polls/routes/give-feedback.ts';
import { historyRoute } from './polls/routes/history.ts';
import { listPollsRoute } from './polls/routes/list-polls.ts';
import { mermaidRoute } from './polls/routes/mermaid.ts';
import { profilesRoute } from './polls/routes/profiles.ts';
import { publicResultRoute } from './polls/routes/public-result.ts';
import { quickPollRoute } from './polls/routes/quick-poll.ts';
import { receiptRoute } from './polls/routes/receipt.ts';
import { receiptDaysRoute } from './polls/routes/receipt-days.ts';
import { receiptKeysRoute } from './polls/routes/receipt-keys.ts';
import { recentResultsRoute } from './polls/routes/recent-results.ts';
import { runResultRoute } from './polls/routes/run-result.ts';
import { runStatusRoute } from './polls/routes/run-status.ts';
import { runStatusesRoute } from './polls/routes/run-statuses.ts';
import { savedPanelRoutes } from './polls/routes/saved-panels.ts';
import { startRunRoute } from './polls/routes/start-run.ts';
import { streamPollRoute } from './polls/routes/stream-poll.ts';

/**
 * Every operation: method, path, operation id, who may call it, and the function that registers it. A row without a
 * function is registered by the one above it. Files that agents look for or pages load are not listed.
 */
export async function routes(app: FastifyInstance, { context }: { context: Context }): Promise<void> {
  const endpoints = endpointsByError(app);
  const figures = await pollFigures(context);
  const facts: Facts = { baseUrl: context.config.baseUrl, config: context.config, panels: context.panels, figures };
  giveAgentHints(app, facts);
  const records = reputations(context);
  const calibration = calibrations(context, records);
  const onFailedLogin: OnFailedLogin = (...login) => failedLogin(facts, ...login);

  const table: RouteRow[] = [
    ['POST', '/api/poll', 'createPoll', 'login, key or none', () => createPollRoute(app, context)],
    ['POST', '/api/polls', 'createSession', 'key', () => startRunRoute(app, context)],
    ['GET', '/api/polls', 'listPolls', 'login or key', () => listPollsRoute(app, context)],
    ['GET', '/api/polls/status', 'getSessionStatuses', 'login or key', () => runStatusesRoute(app, context)],
    ['GET', '/api/polls/:id/status', 'getSessionStatus', 'key', () => runStatusRoute(app, context)],
    ['GET', '/api/polls/:id/result', 'getSessionResult', 'key', () => runResultRoute(app, context)],
    ['POST', '/api/polls/:id/cancel', 'cancelSession', 'login or key', () => cancelRunRoute(app, context)],
    ['POST', '/api/batches', 'createBatch', 'login or key', () => app.register(createBatchRoute, { context })],
    ['GET', '/api/batches', 'listBatches', 'login or key', () => listBatchesRoute(app, context)],
    ['GET', '/api/batches/:batchId', 'getBatch', 'login or key', () => getBatchRoute(app, context)],
    ['GET', '/api/batches/:batchId/results', 'getBatchResults', 'login or key', () => batchResultsRoute(app, context)],
    ['GET', '/api/batches/:batchId/report', 'getBatchReport', 'login or key', () => batchReportRoute(app, context)],
    ['POST', '/api/batches/:batchId/cancel', 'cancelBatch', 'login or key', () => cancelBatchRoute(app, context)],
    ['DELETE', '/api/batches/:batchId', 'deleteBatch', 'login or key', () => deleteBatchRoute(app, context)],
    ['POST', '/api/poll/stream', 'streamPoll', 'key', () => streamPollRoute(app, context)],
    ['GET', '/api/poll/estimate', 'estimatePoll', 'anyone', () => estimateRoute(app, context)],
    ['POST', '/api/poll/dry-run', 'dryRunPoll', 'key', () => dryRunRoute(app, context)],
    ['POST', '/api/quick-poll', 'quickPoll', 'key or none', () => quickPollRoute(app, context)],
    ['GET', '/api/profiles', 'listProfiles', 'anyone', () => profilesRoute(app)],
    ['GET', '/api/panels', 'listPanels', 'login or key', () => savedPanelRoutes(app, context)],
    ['GET', '/api/panels/:name', 'getPanel', 'login or key'],
    ['PUT', '/api/panels/:name', 'savePanel', 'login or key'],
    ['DELETE', '/api/panels/:name', 'removePanel', 'login or key'],

    ['GET', '/api/results/recent', 'listRecentResults', 'login', () => recentResultsRoute(app, context)],
    ['GET', '/api/results/:resultId', 'getResult', 'anyone', () => publicResultRoute(app, context)],
    ['DELETE', '/api/results/:resultId', 'deleteResult', 'login or key', () => deleteResultRoute(app, context)],
    ['GET', '/api/results/:resultId/receipt', 'getReceipt', 'login, key or none', () => receiptRoute(app, context)],
    ['GET', '/api/receipts/days', 'listReceiptDays', 'anyone', () => receiptDaysRoute(app, context)],
    ['GET', '/.well-known/jwks.json', 'getReceiptKeys', 'anyone', () => receiptKeysRoute(app, context)],
    ['GET', '/api/results', 'listResults', 'login', () => historyRoute(app, context)],
    ['GET', '/api/export', 'exportAccount', 'login or key', () => exportRoute(app, context)],
    ['GET', '/api/graph/mermaid/:pollId', 'getMermaid', 'anyone', () => mermaidRoute(app, context)],
    ['GET', '/api/graph/node-spec', 'getNodeSpec', 'anyone', () => nodeSpecRoute(app, context)],

    ['POST', '/api/feedback', 'giveFeedback', 'key', () => giveFeedbackRoute(app, context)],
    ['GET', '/api/feedback/:pollId', 'getFeedback', 'anyone', () => feedbackSummaryRoute(app, context)],
    ['GET', '/api/intents', 'listIntents', 'anyone', () => intentsRoute(app, context)],
    ['POST', '/api/intents/match', 'matchIntents', 'anyone', () => matchIntentsRoute(app, context)],

    ['GET', '/api/keys', 'listKeys', 'login or key', () => listKeysRoute(app, context)],
    ['POST', '/api/keys', 'createKey', 'login or key', () => createKeyRoute(app, context)],
    ['POST', '/api/keys/redeem', 'redeemGrant', 'anyone', () => redeemGrantRoute(app, context)],
    ['DELETE', '/api/keys', 'revokeAllKeys', 'login or key', () => revokeAllKeysRoute(app, context)],
    ['PATCH', '/api/keys/:keyId', 'changeKey', 'login or key', () => changeKeyRoute(app, context)],
    ['DELETE', '/api/keys/:keyId', 'revokeKey', 'login or key', () => revokeKeyRoute(app, context)],

    [
      'GET',
      '/api/webhook-endpoints',
      'listWebhookEndpoints',
      'login or key',
      () => webhookEndpointRoutes(app, context),
    ],
    ['POST', '/api/webhook-endpoints', 'createWebhookEndpoint', 'login or key'],
    ['GET', '/api/webhook-endpoints/:endpointId', 'getWebhookEndpoint', 'login or key'],
    ['PATCH', '/api/webhook-endpoints/:endpointId', 'changeWebhookEndpoint', 'login or key'],
    ['DELETE', '/api/webhook-endpoints/:endpointId', 'removeWebhookEndpoint', 'login or key'],
    [
      'GET',
      '/api/webhook-endpoints/:endpointId/secret',
      'getWebhookSecret',
      'login or key',
      () => webhookSecretRoutes(app, context),
    ],
    ['POST', '/api/webhook-endpoints/:endpointId/rotate-secret', 'rotateWebhookSecret', 'login or key'],
    [
      'GET',
      '/api/webhook-endpoints/:endpointId/deliveries',
      'listWebhookDeliveries',
      'login or key',
      () => webhookDeliveryRoutes(app, context),
    ],
    ['POST', '/api/webhook-endpoints/:endpointId/test', 'testWebhookEndpoint', 'login or key'],
    [
      'POST',
      '/api/webhook-endpoints/:endpointId/deliveries/:deliveryId/resend',
      'resendWebhookDelivery',
      'login or key',
    ],

    ['GET', '/api/auth/login', 'login', 'anyone', () => loginRoute(app, context, onFailedLogin)],
    ['GET', '/api/auth/callback', 'loginCallback', 'anyone', () => loginCallbackRoute(app, context, onFailedLogin)],
    ['GET', '/api/auth/logout', 'logout', 'anyone', () => logoutRoute(app, context)],
    ['GET', '/api/auth/me', 'getCurrentUser', 'login', () => meRoute(app, context)],
    ['GET', '/api/balance', 'getBalance', 'login', () => balanceRoute(app, context)],
    ['GET', '/api/usage', 'getUsage', 'login or key', () => usageRoute(app, context)],
    ['GET', '/api/usage/balance', 'getUsageBalance', 'login or key', () => usageBalanceRoutes(app, context)],
    ['PUT', '/api/usage/low-balance', 'setLowBalance', 'login or key'],
    ['POST', '/api/checkout', 'createCheckout', 'login', () => checkoutRoute(app, context)],
    [
      'POST',
      '/api/webhooks/stripe',
      'receiveStripeEvent',
      'anyone',
      () => app.register(stripeWebhookRoute, { context }),
    ],
    ['POST', '/api/deposit', 'deposit', 'anyone', () => depositRoute(app, context)],
    ['GET', '/api/wallet/challenge', 'getWalletChallenge', 'anyone', () => walletChallengeRoute(app, context)],
    ['POST', '/api/wallet/verify', 'verifyWallet', 'anyone', () => walletVerifyRoute(app, context)],
    ['POST', '/api/wallet/revoke-key', 'revokeKeyByWallet', 'anyone', () => walletRevokeKeyRoute(app, context)],
    ['DELETE', '/api/account', 'deleteAccount', 'login', () => deleteAccountRoute(app, context)],
    [
      'POST',
      '/api/wallet/delete-account',
      'deleteAccountByWallet',
      'anyone',
      () => walletDeleteAccountRoute(app, context),
    ],
    ['POST', '/api/wallet/rotate-key', 'rotateKeysByWallet', 'anyone', () => walletRotateKeyRoute(app, context)],

    ['POST', '/api/mcp', 'speakMcp', 'key', () => app.register(mcpRoute, { context })],
    ['POST', '/api/a2a/tasks/send', 'sendTask', 'key', () => app.register(a2aRoute, { context })],
    ['POST', '/v1/chat/completions', 'createChatCompletion', 'key or none', () => chatCompletionsRoute(app, context)],
    ['GET', '/v1/models', 'listChatModels', 'anyone', () => chatModelRoutes(app, context)],
    ['GET', '/v1/models/:model', 'getChatModel', 'anyone'],
    ['GET', '/.well-known/agent-card.json', 'getAgentCard', 'anyone', () => agentCardRoutes(app, context)],
    ['GET', '/.well-known/agent.json', 'getEarlyAgentCard', 'anyone'],
    ['GET', '/api/agent-card', 'getUnifiedAgentCard', 'anyone'],
    ['GET', '/.well-known/mcp/server-card.json', 'getMcpServerCard', 'anyone'],
    ['GET', '/api/mcp/server-card', 'getMcpServerCardBesideServer', 'anyone'],

    ['GET', '/api/health', 'getHealth', 'anyone', () => healthRoute(app, context)],
    ['GET', '/api/models', 'listModels', 'anyone', () => modelsRoute(app, context)],
    ['GET', '/api/reputation', 'getReputation', 'anyone', () => reputationRoutes(app, records)],
    ['GET', '/api/reputation/models', 'getModelReputation', 'anyone'],
    ['GET', '/api/calibration', 'getCalibration', 'anyone', () => calibrationRoutes(app, calibration)],
    ['GET', '/api/calibration.csv', 'getCalibrationTable', 'anyone'],
    ['GET', '/api/openapi.json', 'getOpenApi', 'anyone', () => openapiDocumentRoute(app)],
    ['GET', '/api/docs', 'getDocs', 'anyone', () => docsRoute(app, facts)],
    ['GET', '/api/errors/catalog', 'getErrorCatalog', 'anyone', () => errorCatalogRoutes(app, facts, endpoints)],
    ['GET', '/errors/:code', 'getError', 'anyone'],
    [
      'GET',
      '/.well-known/openid-configuration',
      'getOpenIdConfiguration',
      'anyone',
      () => openidConfigurationRoute(app, context),
    ],
    [
      'GET',
      '/.well-known/oauth-protected-resource',
      'getProtectedResource',
      'anyone',
      () => protectedResourceRoutes(app, context),
    ],
    ['GET', '/.well-known/oauth-protected-resource/api/mcp', 'getMcpProtectedResource', 'anyone'],
    ['GET', '/api/surfaces', 'getSurfaces', 'anyone', () => surfacesRoute(app, facts)],
    ['POST', '/api/tools/list_surfaces', 'listSurfaces', 'anyone', () => surfaceToolRoutes(app, facts)],
    ['POST', '/api/tools/get_surface', 'getSurface', 'anyone'],
    ['GET', '/api/examples', 'listExamples', 'anyone', () => exampleRoutes(app, facts)],
    ['GET', '/api/examples/:language', 'getExample', 'anyone'],
    ['GET', '/eloquentpoll.ts', 'getClientFile', 'anyone', () => clientFileRoutes(app, context)],
    ['GET', '/eloquentpoll.py', 'getPythonClientFile', 'anyone'],
    ['GET', '/.well-known/api-catalog', 'getApiCatalog', 'anyone', () => discoveryDocumentRoutes(app, facts)],
    ['GET', '/api/routing-descriptions.json', 'getRoutingDescriptions', 'anyone'],
    ['GET', '/asyncapi.json', 'getAsyncApi', 'anyone'],
    ['GET', '/.well-known/ai-plugin.json', 'getPluginManifest', 'anyone'],
    ['GET', '/llms.txt', 'getLlms', 'anyone'],
    ['GET', '/llms-full.txt', 'getLlmsFull', 'anyone'],
    ['GET', '/robots.txt', 'getRobots', 'anyone'],
    ['GET', '/sitemap.xml', 'getSitemap', 'anyone'],
    [
      'GET',
      '/.well-known/agent-skills/index.json',
      'getSkillsIndex',
      'anyone',
      () => {
        agentSkillRoutes(app, facts);
        siteFileRoutes(app, facts);
      },
    ],
    ['GET', '/', 'getHome', 'anyone', () => homeRoute(app, facts)],
    ['GET', '/playground', 'getPlayground', 'anyone', () => app.register(playgroundRoutes, { context, facts })],
    ['POST', '/playground', 'sendPlayground', 'anyone'],
    [
      'GET',
      '/result/:resultId',
      'getResultPage',
      'login or none',
      () => app.register(resultPageRoutes, { context, facts }),
    ],
    ['POST', '/result/:resultId/feedback', 'sendResultFeedback', 'login or none'],
    ['GET', '/models', 'getModelsPage', 'anyone', () => modelsPageRoute(app, facts, records, context)],
    [
      'GET',
      '/models/:model',
      'getModelPage',
      'anyone',
      () => modelPageRoute(app, context, facts, { records, calibration }),
    ],
    ['GET', '/trust', 'getTrustPage', 'anyone', () => trustPageRoute(app, facts, calibration)],
    ['GET', '/pricing', 'getPricingPage', 'anyone', () => pricingPageRoute(app, context, facts)],
    ['GET', '/connect', 'getConnectPage', 'anyone', () => connectRoutes(app, facts)],
    ['GET', '/guides/:guide', 'getGuide', 'anyone'],
    ['GET', '/surfaces', 'getSurfacesPage', 'anyone', () => surfacesPageRoute(app, facts)],
    ['GET', '/dashboard', 'getDashboard', 'login or none', () => dashboardRoute(app, context, facts)],
    [
      'GET',
      '/dashboard/polls',
      'getDashboardPolls',
      'login or none',
      () => app.register(dashboardPollsRoutes, { context, facts }),
    ],
    ['GET', '/dashboard/polls/export', 'exportDashboardPolls', 'login'],
    [
      'GET',
      '/dashboard/polls/delete',
      'getPollDeletion',
      'login or none',
      () => app.register(dashboardDeleteRoutes, { context, facts }),
    ],
    ['POST', '/dashboard/polls/delete', 'sendPollDeletion', 'login or none'],
    ['POST', '/dashboard/polls/:id/cancel', 'sendPollCancellation', 'login or none'],
    [
      'GET',
      '/dashboard/batches',
      'getDashboardBatches',
      'login or none',
      () => app.register(dashboardBatchRoutes, { context, facts }),
    ],
    ['POST', '/dashboard/batches', 'sendBatch', 'login or none'],
    ['POST', '/dashboard/batches/check', 'checkBatchForm', 'login or none'],
    ['GET', '/dashboard/batches/:batchId', 'getDashboardBatch', 'login or none'],
    ['POST', '/dashboard/batches/:batchId/cancel', 'sendBatchCancellation', 'login or none'],
    ['POST', '/dashboard/batches/:batchId/delete', 'sendBatchDeletion', 'login or none'],
    [
      'GET',
      '/dashboard/usage',
      'getDashboardUsage',
      'login or none',
      () => app.register(dashboardUsageRoutes, { context, facts }),
    ],
    ['GET', '/dashboard/usage/export', 'exportDashboardUsage', 'login'],
    ['POST', '/dashboard/usage/low-balance', 'sendLowBalance', 'login or none'],
    [
      'GET',
      '/dashboard/keys',
      'getDashboardKeys',
      'login or none',
      () => app.register(dashboardKeyRoutes, { context, facts }),
    ],
    ['POST', '/dashboard/keys', 'sendNewKey', 'login or none'],
    ['GET', '/dashboard/keys/:keyId', 'getDashboardKey', 'login or none'],
    ['POST', '/dashboard/keys/:keyId', 'sendKeyChange', 'login or none'],
    ['POST', '/dashboard/keys/:keyId/rotate', 'sendKeyRotation', 'login or none'],
    ['GET', '/dashboard/keys/:keyId/revoke', 'getKeyRevocation', 'login or none'],
    ['POST', '/dashboard/keys/:keyId/revoke', 'sendKeyRevocation', 'login or none'],
    [
      'GET',
      '/dashboard/batches/:batchId/report',
      'getDashboardBatchReport',
      'login or none',
      () => dashboardReportRoute(app, context, facts),
    ],
    [
      'GET',
      '/dashboard/webhooks',
      'getDashboardWebhooks',
      'login or none',
      () => app.register(dashboardWebhookRoutes, { context, facts }),
    ],
    ['POST', '/dashboard/webhooks', 'sendNewEndpoint', 'login or none'],
    ['GET', '/dashboard/webhooks/:endpointId', 'getDashboardWebhook', 'login or none'],
    ['POST', '/dashboard/webhooks/:endpointId/test', 'sendWebhookTest', 'login or none'],
    ['POST', '/dashboard/webhooks/:endpointId/rotate', 'sendSecretRotation', 'login or none'],
    ['POST', '/dashboard/webhooks/:endpointId/enable', 'sendEndpointEnabling', 'login or none'],
    ['POST', '/dashboard/webhooks/:endpointId/disable', 'sendEndpointDisabling', 'login or none'],
    ['POST', '/dashboard/webhooks/:endpointId/remove', 'sendEndpointRemoval', 'login or none'],
    ['POST', '/dashboard/webhooks/:endpointId/deliveries/:deliveryId/resend', 'sendResend', 'login or none'],
    ['GET', '/dashboard/grant', 'getGrant', 'login or none', () => app.register(grantRoutes, { context, facts })],
    ['POST', '/dashboard/grant', 'sendGrant', 'login or none'],
  ];
  const check = expectRoutes(app, table);
  for (const [, , , , register] of table) register?.();
  pageFileRoutes(app, facts);
  app.addHook('onReady', async () => check());
}
