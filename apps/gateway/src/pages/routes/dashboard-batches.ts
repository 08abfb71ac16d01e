import { randomUUID } from 'node:crypto';
import { type BatchRowError, type BatchTerms, LIMITS } from '@eloquentpoll/contracts';
import { isBatchId } from '@eloquentpoll/polls';
import { balanceOf, cancelBatch, deleteBatch, findBatch, listBatches } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toBatch } from '../../batches/read/to-batch.ts';
import { BatchPath } from '../../batches/routes/batch-path.ts';
import { checkBatch } from '../../batches/upload/check-batch.ts';
import { FORM_TYPE, readUpload } from '../../batches/upload/read-upload.ts';
import { takeBatch } from '../../batches/upload/take-batch.ts';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, redirect, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { isFormId, takeForms } from '../../http/form-bodies.ts';
import { principalOf, spend } from '../../http/hooks/rate-limit.ts';
import { cursorsOf } from '../../polls/read/page-cursors.ts';
import type { PagesContext } from '../context.ts';
import type { BatchFormVerdict } from '../dashboard/batches/batch-check.ts';
import type { BatchForm } from '../dashboard/batches/batch-form.ts';
import { batchPage } from '../dashboard/batches/batch-page.ts';
import { BATCHES_PATH, batchesPage } from '../dashboard/batches/batches-page.ts';
import { readBatchView } from '../dashboard/batches/read-batch-view.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';
import { type PageQuery, serveAccountPage } from './serve-account-page.ts';

const PAGE = textAnswer('The page.', 'text/html');
const FORM_ERRORS = orPage(
  errors(
    'authentication_required',
    'forbidden_origin',
    'payload_too_large',
    'unsupported_media_type',
    'batch_invalid',
    'insufficient_balance',
    'too_many_batches',
    'idempotency_key_reused',
    'request_timeout',
  ),
);
const BATCH_PATH = `${BATCHES_PATH}/:batchId` as const;

interface Typed {
  pasted?: string;
  terms?: BatchTerms;
}

/** A form over the rate limit is read, to be shown again, only up to this size. */
const MAX_SHOWN_AGAIN_BYTES = 1_000_000;

interface Path {
  Params: BatchPath;
}

/** Batches on the dashboard: the list, a page per batch, and the forms that check, start, cancel and delete. */
export async function dashboardBatchRoutes(
  app: FastifyInstance,
  { context, facts }: { context: PagesContext; facts: Facts },
): Promise<void> {
  const { storage, config } = context;
  const { baseUrl } = facts;
  const signIn = signInPage(facts, BATCHES_PATH);
  const page = (reply: FastifyReply) => reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
  const askToSignIn = (reply: FastifyReply) => page(reply).code(401).send(signIn);
  const to = (reply: FastifyReply, path: string) => reply.redirect(`${config.baseUrl}${path}`, 303);
  takeForms(app);
  // The handler reads the body as a stream, so that a file is never held in memory.
  app.addContentTypeParser(FORM_TYPE, async () => undefined);

  async function listPage(accountId: string, { after, before }: PageQuery, form: Partial<BatchForm> = {}) {
    const cursor = [after, before].find((id) => id !== undefined && isBatchId(id));
    const direction = cursor === before && after === undefined ? 'newer' : 'older';
    const from = cursor === undefined ? undefined : ({ batchId: cursor, direction } as const);
    const limit = LIMITS.batch.list.default;
    const found =
      (await listBatches(storage, accountId, { limit, from })) ?? (await listBatches(storage, accountId, { limit }))!;
    const lines = found.batches.map(({ id }) => ({ pollId: id }));
    const last = direction === 'older' ? lines.at(-1) : lines[0];
    const goOn = found.hasMore ? (last?.pollId ?? null) : null;
    return batchesPage(baseUrl, {
      batches: found.batches.map((batch) => toBatch(config, batch)),
      ...cursorsOf(
        { lines, goOn },
        direction === 'older' ? cursor : undefined,
        direction === 'newer' ? cursor : undefined,
      ),
      form: { ...emptyForm(), ...form },
    });
  }

  serveAccountPage(app, facts, {
    path: BATCHES_PATH,
    operationId: 'getDashboardBatches',
    summary: 'Batches page of the dashboard',
    query: { after: 'Batch id; shows older batches.', before: 'Batch id; shows newer batches.' },
    render: (accountId, query) => listPage(accountId, query),
  });

  const form = (operationId: string, summary: string, more: object = {}, response: object = {}) => ({
    bodyLimit: LIMITS.batch.inline_bytes,
    // The form's own budget is charged after its fields are read, so that a refusal can show them again.
    config: { operation: 'account' as const, reportsUncleanBody: true, bodyTimeoutMs: LIMITS.batch.upload_ms },
    validatorCompiler: () => () => true,
    schema: {
      operationId,
      tags: ['Batches'],
      summary,
      security: access.sessionOptional,
      querystring: Type.Object({ form: Type.Optional(Type.String({ description: 'Names this form.' })) }),
      ...more,
      response: { ...response, ...FORM_ERRORS },
    },
  });

  /** The buttons of a batch send URL-encoded forms, which cannot contain a file. */
  async function readForm(request: FastifyRequest) {
    if (request.headers['content-type']?.toLowerCase().startsWith(FORM_TYPE)) return readUpload(context, request);
    throw new ApiError('unsupported_media_type');
  }

  /** Shows the typed fields again with the refusal. An uploaded file is not read. */
  async function refuseStranger(request: FastifyRequest, reply: FastifyReply) {
    spend(request, await context.limiter.take('batch', principalOf(request)));
    const typed = await readForm(request).catch(() => null);
    if (!typed?.pasted) return askToSignIn(reply);
    const form = { ...emptyForm(), terms: typed.terms, pasted: typed.pasted };
    const verdict = { kind: 'refused', problem: SIGNED_OUT } as const;
    const shown = { batches: [], after: null, before: null, form: { ...form, verdict } };
    return page(reply).code(401).send(batchesPage(baseUrl, shown));
  }

  /** Reads the form and charges the budget once the fields are known that a refusal has to show again. */
  async function readWithin(request: FastifyRequest, name: BudgetName, typed: Typed) {
    const budget = await context.limiter.take(name, principalOf(request));
    if (!budget.allowed && !(Number(request.headers['content-length']) <= MAX_SHOWN_AGAIN_BYTES))
      spend(request, budget);
    const upload = await readForm(request);
    Object.assign(typed, { terms: upload.terms, pasted: upload.pasted ?? '' });
    spend(request, budget);
    return upload;
  }

  /** Shows the form again with the reason for the refusal. */
  async function formPage(
    { accountId, reply, error }: { accountId: string; reply: FastifyReply; error: unknown },
    typed: Typed,
  ) {
    if (!(error instanceof ApiError)) throw error;
    const status = STATUS[error.code];
    if (status === undefined) throw error;
    const { headers = {}, retryAfterSeconds } = error.circumstances;
    if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
    return page(reply)
      .headers(headers)
      .code(status)
      .send(await listPage(accountId, {}, { ...typed, verdict: verdictOn(error) }));
  }

  app.post(
    `${BATCHES_PATH}/check`,
    form('checkBatchForm', 'Batch check form', {}, { 200: PAGE }),
    async (request, reply) => {
      if (!request.principal) return refuseStranger(request, reply);
      const { accountId } = request.principal;
      const typed: Typed = {};
      try {
        const upload = await readWithin(request, 'batch_check', typed);
        const found = await checkBatch(context, { ...upload, accountId });
        const balance = (await balanceOf(storage, accountId))!;
        const availableU = balance.availableU - balance.heldBackU;
        const verdict = { kind: 'checked', found, availableU, isFile: upload.pasted === null } as const;
        return page(reply).send(await listPage(accountId, {}, { ...typed, verdict }));
      } catch (error) {
        return formPage({ accountId, reply, error }, typed);
      }
    },
  );

  app.post<{ Querystring: { form?: string } }>(
    BATCHES_PATH,
    form('sendBatch', 'New batch form', {}, { 303: redirect('Redirects to the batch.') }),
    async (request, reply) => {
      if (!request.principal) return refuseStranger(request, reply);
      const { accountId, loginId } = request.principal;
      const typed: Typed = {};
      try {
        const upload = await readWithin(request, 'batch', typed);
        const idempotencyKey = keyOf(request);
        const { batchId } = await takeBatch(context, { ...upload, accountId, loginId, idempotencyKey });
        return to(reply, `${BATCHES_PATH}/${batchId}`);
      } catch (error) {
        return formPage({ accountId, reply, error }, typed);
      }
    },
  );

  app.get<Path & { Querystring: { line?: string } }>(
    BATCH_PATH,
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getDashboardBatch',
        tags: ['Batches'],
        summary: 'Page of a batch',
        security: access.sessionOptional,
        params: BatchPath,
        querystring: Type.Object({
          line: Type.Optional(Type.String({ description: 'Rows after this line.', maxLength: 10 })),
        }),
        response: { 200: PAGE, 303: redirect('Redirects to the batches.'), ...errors('account_frozen') },
      },
    },
    async ({ principal, params: { batchId }, query: { line = '' }, url }, reply) => {
      if (!principal) return page(reply).send(signInPage(facts, url));
      const stored = isBatchId(batchId) ? await findBatch(storage, principal.accountId, batchId) : null;
      if (!stored) return to(reply, BATCHES_PATH);
      const view = await readBatchView(context, stored, /^\d{1,6}$/.test(line) ? Number(line) : 0);
      return page(reply).send(batchPage(baseUrl, view));
    },
  );

  const action = (operationId: string, summary: string, refusals = {}) => ({
    config: { operation: 'account' as const },
    schema: {
      operationId,
      tags: ['Batches'],
      summary,
      security: access.sessionOptional,
      params: BatchPath,
      response: { 303: redirect('Redirects to the batch.'), ...FORM_ERRORS, ...refusals },
    },
  });

  app.post<Path>(
    `${BATCH_PATH}/cancel`,
    action('sendBatchCancellation', 'Batch cancellation form'),
    async ({ principal, params: { batchId } }, reply) => {
      if (!principal) return askToSignIn(reply);
      if (isBatchId(batchId)) await cancelBatch(storage, principal.accountId, batchId);
      return to(reply, `${BATCHES_PATH}/${encodeURIComponent(batchId)}`);
    },
  );

  app.post<Path>(
    `${BATCH_PATH}/delete`,
    action('sendBatchDeletion', 'Batch deletion form', orPage(errors('batch_not_ended'))),
    async ({ principal, params: { batchId } }, reply) => {
      if (!principal) return askToSignIn(reply);
      // A batch that does not exist, or was deleted before, counts as deleted.
      const deletion = isBatchId(batchId) ? await deleteBatch(storage, principal.accountId, batchId) : null;
      if (deletion === 'open') throw new ApiError('batch_not_ended');
      return to(reply, BATCHES_PATH);
    },
  );
}

const emptyForm = (): BatchForm => ({ key: randomUUID(), pasted: '', terms: {}, verdict: null });

const SIGNED_OUT = 'You are signed out by now. Sign in on another tab, then send this form again.';

const keyOf = ({ query }: FastifyRequest<{ Querystring: { form?: string } }>): string | null =>
  query.form !== undefined && isFormId(query.form) ? `form-${query.form}` : null;

/** Errors that the form shows; all others get their own page. */
const STATUS: Partial<Record<ApiError['code'], number>> = {
  validation_error: 400,
  batch_invalid: 400,
  invalid_preset: 400,
  insufficient_balance: 402,
  payload_too_large: 413,
  too_many_batches: 429,
  rate_limited: 429,
  idempotency_key_reused: 422,
};

function verdictOn({ code, message, circumstances: { members = {} } }: ApiError): BatchFormVerdict {
  if (code === 'batch_invalid') {
    const { errors: found = [], error_count = 0 } = members as { errors?: BatchRowError[]; error_count?: number };
    return { kind: 'invalid', errors: found, errorCount: error_count };
  }
  const { required_usd, available_usd } = members as { required_usd?: number; available_usd?: number };
  if (code === 'insufficient_balance' && required_usd !== undefined)
    return { kind: 'unpaid', requiredUsd: required_usd, availableUsd: available_usd ?? 0 };
  return { kind: 'refused', problem: message };
}
