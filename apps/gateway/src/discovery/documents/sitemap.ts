import type { FastifyInstance } from 'fastify';
import { SKILL_PATH } from './skill-paths.ts';

/** Public pages and documents, without personal pages and single results. */
const WORTH_FINDING = [
  '/',
  '/?view=human',
  '/playground',
  '/connect',
  '/surfaces',
  '/pricing',
  '/models',
  '/trust',
  '/api/docs',
  '/llms.txt',
  '/llms-full.txt',
  '/api/openapi.json',
  '/asyncapi.json',
  SKILL_PATH,
];

export function sitemap(app: FastifyInstance, baseUrl: string): string {
  const served = WORTH_FINDING.filter((path) => app.hasRoute({ method: 'GET', url: path.split('?', 1)[0]! }));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...served.map((path) => `  <url><loc>${baseUrl}${path}</loc></url>`),
    '</urlset>',
    '',
  ].join('\n');
}
