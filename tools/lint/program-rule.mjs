/** Set if ESLint sees a part of the sources only, as in `npm run check -- --changed`. */
const { WINS_LINT_PROJECT } = process.env;

/**
 * Returns a rule of ESLint that judges a file by all sources. It judges nothing if ESLint sees only a part of them.
 *
 * @param {string} description
 * @param {(program: import('typescript').Program, file: import('typescript').SourceFile) => Iterable<{ node: import('typescript').Node, message: string }>} faultsIn
 * @returns {import('eslint').Rule.RuleModule}
 */
export function programRule(description, faultsIn) {
  return {
    meta: { type: 'problem', docs: { description }, schema: [] },
    create: ({ sourceCode, filename, report }) => ({
      Program() {
        if (WINS_LINT_PROJECT !== undefined) return;
        const { program } = sourceCode.parserServices;
        const file = program?.getSourceFile(filename);
        for (const { node, message } of file ? faultsIn(program, file) : [])
          report({ loc: sourceCode.getLocFromIndex(node.getStart(file)), message });
      },
    }),
  };
}
