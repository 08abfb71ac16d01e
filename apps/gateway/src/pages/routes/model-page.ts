import { readModelStanding } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Calibrations } from '../../discovery/calibrations.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import type { Reputations } from '../../discovery/reputations.ts';
import { access } from '../../http/access.ts';
import { errors, NOT_MODIFIED, orPage, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { memoize } from '../../http/cache.ts';
import { isForPeople } from '../../http/hooks/unmatched.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import type { PagesContext } from '../context.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { sendMissingPage } from '../missing-page.ts';
import { isModelAt } from '../model-anchor.ts';
import { listModels } from '../models-filter.ts';
import { modelPage } from '../trust/model-page.ts';

const Params = Type.Object({
  model: Type.String({ maxLength: 200, description: 'The id of a model; `-` can replace the slash.' }),
});

interface Read {
  records: Reputations;
  calibration: Calibrations;
}

export function modelPageRoute(
  app: FastifyInstance,
  { storage }: Pick<PagesContext, 'storage'>,
  facts: Facts,
  { records, calibration }: Read,
): void {
  const listed = listModels(facts.panels);
  const standings = memoize({
    async load(id) {
      const standing = await readModelStanding(storage, id);
      return () => standing;
    },
    freshMs: 60_000,
    staleMs: 3_600_000,
    maxEntries: listed.length,
  });
  app.get<{ Params: { model: string } }>(
    '/models/:model',
    {
      config: { operation: 'read', markdownBase: facts.baseUrl },
      schema: {
        operationId: 'getModelPage',
        tags: ['System'],
        summary: 'Page of a model',
        security: access.none,
        params: Params,
        response: { 200: textAnswer('The page.', 'text/html'), ...NOT_MODIFIED, ...orPage(errors('not_found')) },
      },
    },
    async (request, reply) => {
      const one = listed.find(({ model }) => isModelAt(model.id, request.params.model));
      if (one === undefined && isForPeople(request)) return sendMissingPage(request, reply, facts);
      if (one === undefined) throw new ApiError('not_found');
      const [{ value: reputation }, { value: evidence }, { value: standing }] = await Promise.all([
        records(),
        calibration(),
        standings(one.model.id),
      ]);
      const made = modelPage(facts, {
        ...one,
        records: reputation.rows,
        window: reputation.window,
        standing,
        agreement: evidence.calibration.agreement,
        reliability: evidence.reliabilities[one.model.id] ?? null,
      });
      reply.headers({ ...PAGE_HEADERS, 'cache-control': 'public, max-age=60' });
      return sendPublicText(request, reply.type(HTML_TYPE), made);
    },
  );
}
