import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import plugin from 'fastify-plugin';
import { textAnswer } from '../answers.ts';
import { htmlToMarkdown } from '../html-to-markdown.ts';
import { markdownHeaders } from '../markdown.ts';
import { prefersMarkdown } from '../prefers-markdown.ts';
import { answersOf, withAnswers } from './declared-answers.ts';

// Pages for people have a second form for agents: markdown, when the Accept header asks for it, and always at the same
// address with .md appended.

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set if the page has a markdown form; links in it start with this address. */
    markdownBase?: string;
    markdownOnly?: boolean;
  }
}

export const pageMarkdown = plugin(async (app: FastifyInstance) => {
  app.addHook('onRoute', function (route) {
    const { config, schema, method, url } = route;
    if (config?.markdownBase === undefined || config.markdownOnly || method !== 'GET') return;
    route.schema = withMarkdown(schema);
    this.route({
      ...route,
      url: `${url}.md`,
      config: { ...config, markdownOnly: true },
      schema: { ...schema, hide: true },
    });
  });
});

function withMarkdown(schema: RouteOptions['schema']): NonNullable<RouteOptions['schema']> {
  const answers = answersOf(schema);
  const markdown = textAnswer('', 'text/markdown');
  const page = { ...markdown, ...answers[200], content: { ...answers[200]?.content, ...markdown.content } };
  return withAnswers(schema, { ...answers, 200: page });
}

/** Sends the page in the form that its reader asked for, with the headers of that form. */
export function inAskedForm(
  request: FastifyRequest,
  reply: FastifyReply,
  page: string,
  toMarkdown = htmlToMarkdown,
): string {
  const { markdownBase, markdownOnly } = request.routeOptions.config;
  const isHtml = String(reply.getHeader('content-type') ?? '').startsWith('text/html');
  if (markdownBase === undefined || !isHtml) return page;
  const vary = String(reply.getHeader('vary') ?? '');
  if (!/\baccept\b(?!-)/i.test(vary)) reply.header('vary', vary === '' ? 'Accept' : `Accept, ${vary}`);
  if (!markdownOnly && !prefersMarkdown(request.headers.accept)) return page;
  const text = toMarkdown(page, markdownBase);
  reply.type('text/markdown; charset=utf-8').headers(markdownHeaders(text));
  return text;
}
