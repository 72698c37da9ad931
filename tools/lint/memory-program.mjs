// A TypeScript program of texts, for the tests of the rules.
import ts from 'typescript';

/** @param {Readonly<Record<string, string>>} texts - Texts by absolute path. */
export function memoryProgram(texts) {
  const files = new Map(
    Object.entries(texts).map(([name, text]) => [
      name,
      ts.createSourceFile(name, text, ts.ScriptTarget.Latest),
    ]),
  );
  return ts.createProgram({
    rootNames: [...files.keys()],
    options: {
      noLib: true,
      strict: true,
      target: ts.ScriptTarget.Latest,
      module: ts.ModuleKind.NodeNext,
    },
    host: {
      getSourceFile: (name) => files.get(name),
      getDefaultLibFileName: () => 'lib.d.ts',
      getCurrentDirectory: () => '/',
      getCanonicalFileName: (name) => name,
      getNewLine: () => '\n',
      useCaseSensitiveFileNames: () => true,
      fileExists: (name) => files.has(name),
      readFile: (name) => texts[name],
      writeFile: () => undefined,
    },
  });
}
