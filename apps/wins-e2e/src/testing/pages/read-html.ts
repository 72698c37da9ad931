/** A web page as a reader finds it: its elements and its text. */
export interface ReadPage {
  /** Names and attributes of all elements, in their order. */
  readonly elements: readonly {
    readonly name: string;
    readonly attributes: ReadonlyMap<string, string>;
  }[];
  /** Text without markup; runs of white space are one space. */
  readonly text: string;
}

const VOID: ReadonlySet<string> = new Set(['!doctype', 'meta', 'br']);
const TAG = /^<(\/?)([!a-z][a-z0-9]*)((?:\s+[a-z][a-z-]*(?:\d)?(?:="[^"<]*")?)*)\s*(\/?)>/i;
const ATTRIBUTE = /([a-z][a-z0-9-]*)(?:="([^"]*)")?/gi;

/** Reads a page more strictly than a browser does. @throws Error when elements do not nest, or a `<` is not that of a tag. */
export function readHtml(page: string): ReadPage {
  const open: string[] = [];
  const elements: { name: string; attributes: ReadonlyMap<string, string> }[] = [];
  let text = '';
  for (let rest = page; rest !== '';) {
    const next = open.at(-1) === 'style' ? rest.indexOf('</style>') : rest.indexOf('<');
    if (open.at(-1) !== 'style') text += next === -1 ? rest : rest.slice(0, next);
    if (next === -1) break;
    rest = rest.slice(next);
    const [tag, slash, written = '', attributes = '', isEmpty] = TAG.exec(rest) ?? [];
    if (tag === undefined) throw new Error(`not a tag: ${rest.slice(0, 80)}`);
    const name = written.toLowerCase();
    if (slash === '/') {
      const expected = open.pop();
      if (name !== expected) throw new Error(`</${name}> ends <${expected}>`);
    } else {
      const pairs = [...attributes.matchAll(ATTRIBUTE)];
      const read = pairs.map(([, key = '', value = '']) => [key, plain(value)] as const);
      elements.push({ name, attributes: new Map(read) });
      if (isEmpty !== '/' && !VOID.has(name)) open.push(name);
    }
    text += ' ';
    rest = rest.slice(tag.length);
  }
  if (open.length > 0) throw new Error(`not ended: ${open.join(' ')}`);
  return { elements, text: plain(text).replaceAll(/\s+/g, ' ').trim() };
}

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
