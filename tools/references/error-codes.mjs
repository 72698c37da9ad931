import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/**
 * Returns the codes of a library's errors as a list in Markdown: the bullets in the comments of its types `…ErrorCode`, `FileProblemCode` and
 * `ContentProblemCode`. These comments appear in editors, too. Undefined for a library without such a type.
 *
 * @param {string} folder - Of the sources of the library.
 */
export function errorCodes(folder) {
  const parts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?:-error|-problem)\.ts$/.test(name))
    .sort()
    .flatMap((name) => listsIn(path.join(folder, name)));
  return parts.length === 0 ? undefined : parts.join('\n');
}

/** @param {string} file */
function listsIn(file) {
  const text = readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const types = source.statements
    .filter((one) => ts.isTypeAliasDeclaration(one))
    .filter(({ name }) => /(?:Error|FileProblem|ContentProblem)Code$/.test(name.text));
  return types.map((type) => {
    const comment = ts.getJSDocCommentsAndTags(type)[0]?.getText() ?? '';
    const bullets = comment
      .slice('/**'.length, -'*/'.length)
      .replaceAll(/^ \* ?/gm, '')
      .split(/^(?=- `)/m)
      .slice(1)
      .map(
        (one) =>
          one
            .split(/\n\n|\*\//)[0]
            ?.replaceAll(/\s+/g, ' ')
            .trim() ?? '',
      );
    const told = bullets.flatMap((one) =>
      Array.from((one.split(': ')[0] ?? '').matchAll(/`(\w+)`/g), ([, code]) => code),
    );
    const missing = codesIn(type.type).filter((code) => !told.includes(code));
    if (missing.length > 0)
      throw new Error(`${file}: the comment of ${type.name.text} lacks ${missing.join(', ')}`);
    const heading =
      type.name.text === 'ContentProblemCode'
        ? '\nEach of `problems` has one of these codes, or of those above:\n\n'
        : '';
    return heading + bullets.join('\n');
  });
}

/**
 * @param {ts.TypeNode} type
 * @returns {string[]}
 */
function codesIn(type) {
  if (ts.isUnionTypeNode(type)) return type.types.flatMap(codesIn);
  if (ts.isParenthesizedTypeNode(type)) return codesIn(type.type);
  return ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? [type.literal.text] : [];
}
