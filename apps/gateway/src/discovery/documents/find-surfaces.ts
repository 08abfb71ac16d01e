import type { Surface, SurfacePage, SurfaceQuery } from '@eloquentpoll/contracts';

const PAGE = 50;

export function findSurfaces(
  all: readonly Surface[],
  { category, user_type, query, limit = PAGE, offset = 0 }: SurfaceQuery,
): SurfacePage {
  const matching = all.filter(
    (surface) =>
      (category === undefined || surface.category === category) &&
      (user_type === undefined || surface.user_types.includes(user_type)) &&
      (query === undefined || textOf(surface).includes(query.toLowerCase())),
  );
  const surfaces = matching.slice(offset, offset + limit);
  return { surfaces, count: surfaces.length, total: matching.length };
}

const textOf = ({ pattern_id, description, user_story, artifacts }: Surface): string =>
  [pattern_id, description, user_story, ...artifacts].join('\n').toLowerCase();
