import { escapeText } from '@wins/base';

const MAX_TEXT = 1024;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup of a page. Only {@link html} makes it, so that each text of others is escaped. */
class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type { Html };

type One = Html | string | number | undefined;
type Child = One | readonly One[];

/**
 * Tag of templates: escapes each inserted text, also for attributes in double quotes. Of a text it shows at most 1,024 characters. Characters that
 * are invisible or change the direction of text become escapes such as `\u202e`.
 */
export function html(parts: TemplateStringsArray, ...children: readonly Child[]): Html {
  return new Html(
    parts.reduce((markup, part, index) => markup + markupOf(children[index - 1]) + part),
  );
}

/** A table below a row of headings. The first column has numbers if `isCount` is true. */
export function table(
  headings: readonly string[],
  rows: readonly Html[],
  { isCount = false } = {},
): Html {
  const head = headings.map((heading, index) =>
    isCount && index === 0
      ? html`<th scope="col" class="number">${heading}</th>`
      : html`<th scope="col">${heading}</th>`,
  );
  return html`<table>
    <thead>
      <tr>
        ${head}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** Shortens a text for a place with little room. */
export function brief(text: string, maxLength: number): string {
  return escapeText(text, { maxLength });
}

function markupOf(child: Child): string {
  if (child === undefined) return '';
  if (child instanceof Html) return child.markup;
  if (typeof child === 'number') return String(child);
  if (typeof child === 'string')
    return escapeText(child, { maxLength: MAX_TEXT }).replace(
      /[&<>"']/g,
      (character) => ENTITIES[character] ?? '',
    );
  return child.map(markupOf).join('');
}
