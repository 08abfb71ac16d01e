// Markup whose parts are escaped unless they are markup themselves. `html` is the only way to make markup, so escaping
// cannot be forgotten.

class Html {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

export type { Html };

type Part = string | number | Html | readonly Html[];

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + markupOf(parts[i - 1]!) + string));
}

/** A block of JSON-LD for programs. No text in it can close the element. */
export const dataBlock = (data: object): Html =>
  new Html(
    `<script type="application/ld+json">${JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}</script>\n`,
  );

function markupOf(part: Part): string {
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(markupOf).join('');
  return String(part).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
