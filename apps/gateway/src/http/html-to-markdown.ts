import { markdownTable } from './markdown.ts';

// Converts the main part of our own pages to markdown. The pages are well-formed, quote attributes and have no
// important text outside elements. Parts that only a browser can use (forms, drawings, scripts) are left out. Text
// stays text: a question cannot become a heading or a link.

interface Element {
  tag: string;
  attributes: string;
  children: (Element | string)[];
}

const VOID = new Set(['br', 'img', 'input', 'hr', 'meta', 'link', 'wbr', 'source', 'col']);
const LEFT_OUT = new Set(['script', 'style', 'template', 'svg', 'form', 'nav', 'button', 'dialog', 'noscript']);
const BLOCKS = new Set(
  'h1 h2 h3 h4 h5 h6 p ul ol dl table pre blockquote section article div details figure header footer aside main hr summary figcaption'.split(
    ' ',
  ),
);

export function htmlToMarkdown(page: string, baseUrl: string): string {
  const main = /<main[^>]*>([\s\S]*)<\/main>/.exec(page)?.[1] ?? page;
  return `${blocksOf(parse(main).children, baseUrl).join('\n\n')}\n`;
}

function parse(markup: string): Element {
  const root: Element = { tag: 'main', attributes: '', children: [] };
  const open = [root];
  for (const [, comment, slash, tag = '', attributes = '', text] of markup.matchAll(TOKEN)) {
    const within = open.at(-1)!;
    if (text !== undefined) within.children.push(textOf(text));
    if (comment !== undefined || tag === '') continue;
    if (slash !== '/') {
      const element = { tag, attributes, children: [] };
      within.children.push(element);
      if (!VOID.has(tag) && !attributes.endsWith('/')) open.push(element);
      continue;
    }
    const at = open.findLastIndex((element) => element.tag === tag);
    if (at > 0) open.length = at;
  }
  return root;
}

/** A comment, a tag with its quoted attributes, or text. */
const TOKEN = /(<!--[\s\S]*?-->)|<(\/?)([a-z][a-z0-9-]*)((?:"[^"]*"|[^">])*)>|([^<]+)/gi;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };
const textOf = (text: string): string => text.replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);

/** Parts for small screens only repeat what wide screens show elsewhere. */
const HIDDEN = /\s(hidden|aria-hidden="true"|class="([^"]* )?narrow-only( [^"]*)?")(\s|$|\/)/;

const isShown = (node: Element | string): boolean =>
  typeof node === 'string' || !(LEFT_OUT.has(node.tag) || HIDDEN.test(` ${node.attributes} `));

function blocksOf(nodes: readonly (Element | string)[], baseUrl: string): string[] {
  const blocks: string[] = [];
  let run: (Element | string)[] = [];
  const endRun = (): void => {
    const text = lineOf(run, baseUrl);
    if (text !== '') blocks.push(text);
    run = [];
  };
  for (const node of nodes.filter(isShown)) {
    if (typeof node === 'string' || !BLOCKS.has(node.tag)) {
      run.push(node);
    } else {
      endRun();
      blocks.push(...blockOf(node, baseUrl));
    }
  }
  endRun();
  return blocks;
}

function blockOf(element: Element, baseUrl: string): string[] {
  const { tag, children } = element;
  if (/^h[1-6]$/.test(tag)) return filled(lineOf(children, baseUrl), (text) => `${'#'.repeat(Number(tag[1]))} ${text}`);
  switch (tag) {
    case 'hr':
      return ['---'];
    case 'pre':
      return [fenced(plainOf(element))];
    case 'ul':
    case 'ol':
      return filled(itemsOf(element, baseUrl).join('\n'));
    case 'dl':
      return filled(termsOf(element, baseUrl).join('\n'));
    case 'table':
      return filled(tableOf(element, baseUrl));
    case 'blockquote':
      return filled(blocksOf(children, baseUrl).join('\n\n').replace(/^/gm, '> '));
    default:
      return blocksOf(children, baseUrl);
  }
}

const filled = (text: string, form: (text: string) => string = (same) => same): string[] =>
  text.trim() === '' ? [] : [form(text)];

const elementsOf = ({ children }: Element): Element[] =>
  children.filter((child): child is Element => typeof child !== 'string' && isShown(child));

function itemsOf(list: Element, baseUrl: string): string[] {
  return elementsOf(list).map((item, i) => {
    const mark = list.tag === 'ol' ? `${i + 1}. ` : '- ';
    return (
      mark +
      blocksOf(item.children, baseUrl)
        .join('\n')
        .replaceAll('\n', `\n${' '.repeat(mark.length)}`)
    );
  });
}

/** Terms and their meanings, one pair per line. */
function termsOf(list: Element, baseUrl: string): string[] {
  const lines: string[] = [];
  for (const entry of elementsOf(list).flatMap((child) => (child.tag === 'div' ? elementsOf(child) : [child]))) {
    const text = lineOf(entry.children, baseUrl);
    if (entry.tag === 'dt') lines.push(`- **${text}**:`);
    else lines.push(`${lines.pop() ?? '-'} ${text}`);
  }
  return lines;
}

function tableOf(table: Element, baseUrl: string): string {
  const rows = rowsOf(table).map((row) => elementsOf(row).map(({ children }) => lineOf(children, baseUrl)));
  const [head = [], ...body] = rows.filter((cells) => cells.length > 0);
  if (head.length === 0) return '';
  // A column of pictures has no text.
  const isWhole = body.length > 0 && body.every((cells) => cells.length === head.length);
  const says = (_: string, column: number) => !isWhole || body.some((cells) => cells[column] !== '');
  return markdownTable(
    head.filter(says),
    body.map((cells) => cells.filter(says)),
  );
}

const rowsOf = (element: Element): Element[] =>
  elementsOf(element).flatMap((child) => (child.tag === 'tr' ? [child] : rowsOf(child)));

/** The whole content on one line. */
function lineOf(nodes: readonly (Element | string)[], baseUrl: string): string {
  const shown = nodes.filter(isShown);
  return shown
    .map((node, i) => {
      const text = inlineOf(node, baseUrl);
      return text !== '' && standApart(shown[i - 1], node) ? ` · ${text}` : text;
    })
    .join('')
    .replace(/\s+/g, ' ')
    .replace(/^ · | · $/g, '')
    .trim();
}

/** Elements without a space between them that the page's style sets apart. */
const standApart = (before: Element | string | undefined, node: Element | string): boolean =>
  typeof before === 'object' &&
  typeof node === 'object' &&
  ![before.tag, node.tag].some((tag) => tag === 'br' || tag === 'wbr' || BLOCKS.has(tag)) &&
  edge(before.children.at(-1), /\s$/) === '' &&
  edge(node.children[0], /^\s/) === '';

function inlineOf(node: Element | string, baseUrl: string): string {
  if (typeof node === 'string') return escaped(node);
  const { tag, attributes, children } = node;
  if (tag === 'br') return ' ';
  if (tag === 'img') return escaped(attributeOf(attributes, 'alt') ?? '');
  if (tag === 'code' || tag === 'kbd') return coded(plainOf(node));
  const text = lineOf(children, baseUrl);
  const [before, after] = [edge(children[0], /^\s/), edge(children.at(-1), /\s$/)];
  const href = tag === 'a' ? attributeOf(attributes, 'href') : undefined;
  if (href !== undefined && text !== '') return `${before}[${text}](${addressOf(href, baseUrl)})${after}`;
  if ((tag === 'strong' || tag === 'b') && text !== '') return `${before}**${text}**${after}`;
  return BLOCKS.has(tag) ? ` ${text} ` : `${before}${text}${after}`;
}

/** A space at the edge of an element belongs to the surrounding sentence. */
const edge = (child: Element | string | undefined, blank: RegExp): string =>
  typeof child === 'string' && blank.test(child) ? ' ' : '';

const plainOf = (element: Element): string =>
  element.children
    .filter(isShown)
    .map((child) => (typeof child === 'string' ? child : plainOf(child)))
    .join('');

const attributeOf = (attributes: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1];
  return value === undefined ? undefined : textOf(value);
};

const addressOf = (href: string, baseUrl: string): string =>
  (href.startsWith('/') ? `${baseUrl}${href}` : href).replace(/[\s()<>]/g, encodeURIComponent);

const escaped = (text: string): string => text.replace(/[\\`*[\]<>#]/g, '\\$&');

/** Encloses the text in one more backtick than it contains in a row. */
function coded(text: string): string {
  const ticks = '`'.repeat(1 + Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)));
  const padded = text.startsWith('`') || text.endsWith('`') ? ` ${text} ` : text;
  return text.trim() === '' ? '' : `${ticks}${padded}${ticks}`;
}

function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, 1 + Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))));
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}
