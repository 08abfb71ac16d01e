import { LIMITS } from '@eloquentpoll/contracts';
import { readHistory } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import type { Facts } from '../../discovery/documents/facts.ts';
import type { PagesContext } from '../context.ts';
import { POLLS_PATH, pollsPage } from '../dashboard/polls-page.ts';
import { serveAccountPage } from './serve-account-page.ts';

const PAGE = LIMITS.history.default;

/** GET /dashboard/polls: the account's polls, newest first. */
export const dashboardPollsRoute = (app: FastifyInstance, { storage }: PagesContext, facts: Facts): void =>
  serveAccountPage(app, facts, {
    path: POLLS_PATH,
    operationId: 'getDashboardPolls',
    summary: 'Polls page of the dashboard',
    query: { page: 'Counted from 1.' },
    render: async (accountId, { page = '' }) => {
      const number = /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1;
      const lines = await readHistory(storage, accountId, PAGE + 1, (number - 1) * PAGE);
      return pollsPage(facts.baseUrl, { lines: lines.slice(0, PAGE), number, hasOlder: lines.length > PAGE });
    },
  });
