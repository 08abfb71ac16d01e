import { LIMITS, PollList, PollListQuery } from '@eloquentpoll/contracts';
import { listPolls, type PollFilter } from '@eloquentpoll/storage';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY } from '../../http/answers.ts';
import { invalid } from '../../http/api-error.ts';
import { LAG_HEADER } from '../../http/lagging-reads.ts';
import { LINK_HEADER, pageLinks } from '../../http/page-links.ts';
import type { PollsContext } from '../context.ts';
import { toListedPoll } from '../read/listed-poll.ts';
import { cursorsOf } from '../read/page-cursors.ts';

/** GET /api/polls: the account's polls, newest first, with cursors. */
export function listPollsRoute(app: FastifyInstance, { lists, config }: PollsContext): void {
  app.get<{ Querystring: PollListQuery }>(
    '/api/polls',
    {
      config: { operation: 'account' },
      preValidation: foldMetadata,
      schema: {
        operationId: 'listPolls',
        tags: ['Polling'],
        summary: 'List your polls',
        description:
          'All polls of the account, from every operation, newest first. The `Link` header points to the next and the previous page; new polls do not shift pages.',
        security: access.sessionOrBearer,
        querystring: PollListQuery,
        response: {
          200: { ...jsonAnswer('One page.', PollList), headers: { ...LINK_HEADER, ...LAG_HEADER } },
          ...errors(...NEEDS_KEY, 'invalid_preset'),
        },
      },
    },
    async (request, reply): Promise<PollList> => {
      const { limit = LIMITS.poll_list.default, after, before, ...filter } = request.query;
      if (after !== undefined && before !== undefined) {
        throw invalid([{ pointer: '#/before', detail: 'before and after are opposite directions; send one of them' }]);
      }
      const cursor = after ?? before;
      const direction = before === undefined ? 'older' : 'newer';
      const accountId = accountOf(request);
      const conditions: PollFilter = {
        status: filter.status,
        createdAfter: timeOf(filter.created_after),
        createdBefore: timeOf(filter.created_before),
        preset: filter.preset,
        keyId: filter.key_id,
        isClose: filter.close,
        metadata: filter.metadata,
      };
      const from = cursor === undefined ? undefined : ({ pollId: cursor, direction } as const);
      const page = await lists.ofAccount(
        accountId,
        (queries) => listPolls(queries, accountId, conditions, { limit, from }),
        reply,
      );
      if (!page) {
        const field = after === undefined ? 'before' : 'after';
        throw invalid([{ pointer: `#/${field}`, detail: `${field} must be the session_id of one of your polls` }]);
      }
      const list = {
        polls: page.lines.map(toListedPoll),
        has_more: page.goOn !== null,
        ...cursorsOf(page, after, before),
      };
      const links = pageLinks(`${config.baseUrl}/api/polls`, request, list);
      if (links) reply.header('link', links);
      return list;
    },
  );
}

const timeOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

/** Turns `metadata[customer]=42` into a member of one `metadata` object. */
async function foldMetadata(request: FastifyRequest): Promise<void> {
  const folded: Record<string, unknown> = {};
  const pairs: [string, unknown][] = [];
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    const [, key] = /^metadata\[(.*)\]$/s.exec(name) ?? [];
    if (key === undefined) folded[name] = value;
    else pairs.push([key, value]);
  }
  request.query = pairs.length === 0 ? folded : { ...folded, metadata: Object.fromEntries(pairs) };
}
