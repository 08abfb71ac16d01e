// Markup whose parts are escaped unless they are markup themselves: `html` is the only way to make it, so that a text
// cannot become markup by being forgotten.

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

function markupOf(part: Part): string {
  if (part instanceof Html) return part.toString();
  if (typeof part === 'object') return part.map(markupOf).join('');
  return String(part).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
