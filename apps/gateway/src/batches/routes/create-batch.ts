import {
  Batch,
  BatchCostError,
  BatchCostProblem,
  BatchError,
  BatchProblem,
  BatchRequest,
  BatchTerms,
  LIMITS,
} from '@eloquentpoll/contracts';
import { findBatch } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY, withContent } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { keyHeader, markReplayed } from '../../http/hooks/idempotency-key.ts';
import type { BatchesContext } from '../context.ts';
import { toBatch } from '../read/to-batch.ts';
import { FORM_TYPE, readUpload, UPLOAD_TYPES } from '../upload/read-upload.ts';
import { takeBatch } from '../upload/take-batch.ts';

const { batch } = LIMITS;

const file = Type.Unsafe<unknown>({
  type: 'string',
  description: `JSON lines, each an element of \`requests\`, or CSV with the columns \`question\`, \`options\` (separated by |) or \`option_1\` to \`option_${LIMITS.options.max}\`, and any of \`custom_id\`, \`gold\`, \`preset\`, \`models\`, \`panel\`, \`confidence_threshold\`, \`max_cost_usd\`, \`reasons\`, \`metadata.NAME\`. At most ${batch.rows} rows of ${batch.line_bytes} bytes.`,
});

const form = Type.Object({
  file: Type.Optional(Type.Unsafe<unknown>({ type: 'string', format: 'binary' })),
  rows: Type.Optional(Type.String({ description: 'The lines of the file as text, if no file is chosen.' })),
  ...BatchTerms.properties,
});

const BODY = {
  content: {
    'application/json': { schema: Type.Ref(BatchRequest) },
    ...Object.fromEntries(UPLOAD_TYPES.map((type) => [type, { schema: file }])),
    [FORM_TYPE]: { schema: form },
  },
};

/** POST /api/batches: many polls in one request, read as they arrive. */
export async function createBatchRoute(app: FastifyInstance, { context }: { context: BatchesContext }): Promise<void> {
  // The handler reads files as streams, never as a whole, and parses JSON piece by piece.
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, bytes: Buffer) => bytes,
  );
  for (const type of [...UPLOAD_TYPES, FORM_TYPE]) app.addContentTypeParser(type, async () => undefined);
  app.post(
    '/api/batches',
    {
      bodyLimit: batch.inline_bytes,
      config: {
        operation: 'batch',
        idempotent: true,
        bodyTimeoutMs: batch.upload_ms,
      },
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'createBatch',
        tags: ['Batches'],
        summary: 'Submit a batch of polls',
        description: `Up to 10,000 polls as JSON, or up to 100,000 as a file of JSON lines or CSV. Every row is checked before anything runs: an invalid row is answered with 400 \`batch_invalid\`, its line and its field, and nothing is charged. The maximum cost of the rows, or \`max_cost_usd\`, is reserved from the balance. Rows run as \`flex\` polls: cheaper, only when no standard poll waits, and within 24 hours. With a file, the fields of the batch are query parameters. An upload may take at most ${batch.upload_ms / 60_000} minutes. The Idempotency-Key returns the same batch for as long as the batch is kept.`,
        security: access.sessionOrBearer,
        headers: Type.Object(keyHeader('for as long as the batch is kept')),
        querystring: BatchTerms,
        body: BODY,
        response: {
          202: jsonAnswer('The batch; `Location` is its status.', Batch),
          ...withContent(
            withContent(
              errors(
                ...READS_BODY,
                ...NEEDS_KEY,
                'forbidden_origin',
                'batch_invalid',
                'invalid_preset',
                'insufficient_balance',
                'request_timeout',
                'too_many_batches',
                'idempotency_key_reused',
              ),
              400,
              { json: BatchError, problem: BatchProblem },
            ),
            402,
            { json: BatchCostError, problem: BatchCostProblem },
          ),
        },
      },
    },
    async (request, reply): Promise<Batch> => {
      const accountId = accountOf(request);
      const upload = await readUpload(context, request);
      const taken = await takeBatch(context, {
        ...upload,
        accountId,
        keyId: request.principal?.keyId,
        loginId: request.principal?.loginId,
        idempotencyKey: request.idempotencyKey,
      });
      const stored = await findBatch(context.storage, accountId, taken.batchId);
      if (!stored) throw new ApiError('batch_not_found');
      if (taken.isReplayed) markReplayed(reply);
      const answer = toBatch(context.config, stored);
      reply.code(202).header('location', answer.status_url);
      return answer;
    },
  );
}
