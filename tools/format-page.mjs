import { readFileSync } from 'node:fs';
import path from 'node:path';
import { format } from 'oxfmt';

/**
 * Returns the text of a page in the format of this repository.
 *
 * @param {string} text
 * @param {string} [name] - Its extension tells the language. Default: Markdown.
 */
export async function formatPage(text, name = 'page.md') {
  const options = JSON.parse(
    readFileSync(path.resolve(import.meta.dirname, '../.oxfmtrc.json'), 'utf8'),
  );
  const { code, errors } = await format(name, text, options);
  if (errors.length > 0) throw new Error(`cannot format the page: ${errors[0].message}`);
  return code;
}
