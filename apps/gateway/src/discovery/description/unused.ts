import type { OpenApiDocument } from './shapes.ts';

/** Removes shapes that nothing in the document refers to, neither directly nor through other shapes. */
export function dropUnusedShapes({ components, ...rest }: OpenApiDocument): void {
  const { schemas, ...others } = components;
  const used = new Set<string>();
  const waiting = [JSON.stringify({ rest, others })];
  for (let text = waiting.pop(); text !== undefined; text = waiting.pop()) {
    for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      waiting.push(JSON.stringify(schemas[name]));
    }
  }
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name];
}
