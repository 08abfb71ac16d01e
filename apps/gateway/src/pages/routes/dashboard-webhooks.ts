import {
  DeliveryParams,
  EndpointParams,
  type ErrorCode,
  LIMITS,
  WEBHOOK_EVENT_TYPES,
  type WebhookEndpointRequest,
} from '@eloquentpoll/contracts';
import { listDeliveries, listWebhookEndpoints } from '@eloquentpoll/storage';
import { type TObject, Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  addEndpoint,
  changeEndpoint,
  removeEndpoint,
  rotateSecret,
  secretOf,
  sendAgain,
  sendTest,
} from '../../accounts/webhooks/change-endpoints.ts';
import { endpointOf } from '../../accounts/webhooks/webhooks.ts';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { type FormBody, formIdOf, takeForms, valuesOf } from '../../http/form-bodies.ts';
import type { PagesContext } from '../context.ts';
import { type WebhookView, webhookPage } from '../dashboard/webhook-page.ts';
import { WEBHOOKS_PATH, type WebhookForm, webhooksOffPage, webhooksPage } from '../dashboard/webhooks-page.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';
import { serveAccountPage } from './serve-account-page.ts';

const FORM_ERRORS = [
  'authentication_required',
  'forbidden_origin',
  'payload_too_large',
  'unsupported_media_type',
  'not_configured',
] as const satisfies ErrorCode[];
const ONE = `${WEBHOOKS_PATH}/:endpointId` as const;

/** The actions of an endpoint's buttons. */
const ACTIONS = {
  test: { operationId: 'sendWebhookTest', summary: 'Test event form', operation: 'webhook_test', run: sendTest },
  rotate: {
    operationId: 'sendSecretRotation',
    summary: 'New signing secret form',
    operation: 'account',
    run: (context: PagesContext, account: string, id: string, form?: FormBody) =>
      rotateSecret(context, account, id, undefined, valuesOf(form, 'replaces')[0]),
  },
  enable: {
    operationId: 'sendEndpointEnabling',
    summary: 'Enable endpoint form',
    operation: 'account',
    run: turn(true),
  },
  disable: {
    operationId: 'sendEndpointDisabling',
    summary: 'Disable endpoint form',
    operation: 'account',
    run: turn(false),
  },
  remove: {
    operationId: 'sendEndpointRemoval',
    summary: 'Remove endpoint form',
    operation: 'account',
    run: removeEndpoint,
  },
} as const satisfies Record<string, { operation: BudgetName; run: Act; operationId: string; summary: string }>;
type Act = (context: PagesContext, accountId: string, endpointId: string, form?: FormBody) => Promise<unknown>;

function turn(isEnabled: boolean): Act {
  return (context, accountId, endpointId) => changeEndpoint(context, accountId, endpointId, { isEnabled });
}

/** The dashboard pages of webhook endpoints and their forms. None of them needs a script. */
export async function dashboardWebhookRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const { config, storage } = context;
  const signIn = signInPage(facts, WEBHOOKS_PATH);
  const page = (reply: FastifyReply) => reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
  const askToSignIn = (reply: FastifyReply) => page(reply).code(401).send(signIn);
  const goTo = (reply: FastifyReply, path: string) => reply.redirect(`${config.baseUrl}${path}`, 303);
  const listPage = async (accountId: string, form?: WebhookForm) =>
    context.webhooks
      ? webhooksPage(facts.baseUrl, await listWebhookEndpoints(storage, accountId), context.webhooks.rules, form)
      : webhooksOffPage(facts.baseUrl);
  takeForms(app);

  serveAccountPage(app, facts, {
    path: WEBHOOKS_PATH,
    operationId: 'getDashboardWebhooks',
    summary: 'Webhooks page of the dashboard',
    query: {},
    render: (accountId) => listPage(accountId),
  });

  app.post<{ Body: FormBody }>(
    WEBHOOKS_PATH,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'sendNewEndpoint',
        tags: ['Account'],
        summary: 'New webhook endpoint form',
        security: access.sessionOptional,
        response: {
          303: redirect('To the endpoint.'),
          400: textAnswer('The form with its errors.', 'text/html'),
          ...orPage(errors(...FORM_ERRORS)),
        },
      },
    },
    async ({ principal, body }, reply) => {
      if (!principal) return askToSignIn(reply);
      const asked = readForm(body);
      try {
        const { endpoint } = await addEndpoint(context, principal.accountId, asked, formIdOf(body));
        return goTo(reply, `${WEBHOOKS_PATH}/${endpoint.id}`);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code === 'not_configured') throw error;
        const { url, description = '', event_types: eventTypes = [] } = asked;
        const form = { url, description, eventTypes, problem: `${error.message}.` };
        return page(reply)
          .code(400)
          .send(await listPage(principal.accountId, form));
      }
    },
  );

  app.get<{ Params: EndpointParams; Querystring: { after?: string } }>(
    ONE,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getDashboardWebhook',
        tags: ['System'],
        summary: 'Page of a webhook endpoint',
        security: access.sessionOptional,
        params: EndpointParams,
        querystring: Type.Object({
          after: Type.Optional(Type.String({ description: 'The last delivery of the previous page.', maxLength: 200 })),
        }),
        response: {
          200: textAnswer('The page.', 'text/html'),
          ...orPage(errors('authentication_required', 'not_configured', 'webhook_endpoint_not_found')),
        },
      },
    },
    async ({ principal, params, query, url }, reply) => {
      if (!principal) return page(reply).code(401).send(signInPage(facts, url));
      return page(reply).send(webhookPage(facts.baseUrl, await viewOf(context, principal.accountId, params, query)));
    },
  );

  for (const [name, { operationId, summary, operation, run }] of Object.entries(ACTIONS))
    app.post<{ Params: EndpointParams; Body: FormBody | undefined }>(
      `${ONE}/${name}`,
      { config: { operation }, schema: actionSchema(operationId, summary, EndpointParams) },
      async (request, reply) => {
        const { principal, params, body } = request;
        if (!principal) return askToSignIn(reply);
        await run(context, principal.accountId, params.endpointId, body);
        return goTo(reply, name === 'remove' ? WEBHOOKS_PATH : `${WEBHOOKS_PATH}/${params.endpointId}`);
      },
    );

  app.post<{ Params: DeliveryParams }>(
    `${ONE}/deliveries/:deliveryId/resend`,
    {
      config: { operation: 'webhook_test' },
      schema: actionSchema('sendResend', 'Resend delivery form', DeliveryParams),
    },
    async ({ principal, params }: FastifyRequest<{ Params: DeliveryParams }>, reply) => {
      if (!principal) return askToSignIn(reply);
      await sendAgain(context, principal.accountId, params);
      return goTo(reply, `${WEBHOOKS_PATH}/${params.endpointId}#log`);
    },
  );
}

const actionSchema = (operationId: string, summary: string, params: TObject) => ({
  operationId,
  tags: ['Account'],
  summary,
  security: access.sessionOptional,
  params,
  response: {
    303: redirect('To the endpoint.'),
    ...orPage(errors(...FORM_ERRORS, 'webhook_endpoint_not_found', 'webhook_delivery_not_found', 'webhook_disabled')),
  },
});

async function viewOf(
  context: PagesContext,
  accountId: string,
  { endpointId }: EndpointParams,
  { after }: { after?: string },
): Promise<WebhookView> {
  const endpoint = await endpointOf(context, accountId, endpointId);
  const { default: limit } = LIMITS.webhooks.deliveries;
  return {
    endpoint,
    secret: await secretOf(context, endpoint),
    ...(await listDeliveries(context.storage, accountId, endpoint.id, { limit, after })),
    isFirstPage: after === undefined,
  };
}

/** Unknown event types are ignored. */
function readForm(body: FormBody): WebhookEndpointRequest {
  const [[url = ''], [description = '']] = [valuesOf(body, 'url'), valuesOf(body, 'description')];
  const checked = valuesOf(body, 'event_types');
  return {
    url: url.trim().slice(0, LIMITS.webhooks.url),
    description: [...description].slice(0, LIMITS.webhooks.description).join(''),
    event_types: WEBHOOK_EVENT_TYPES.filter((type) => checked.includes(type)),
  };
}
