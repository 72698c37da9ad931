// Rules that Oxlint does not have, for .oxlintrc.json: rules of this repository, the boundaries of projects by Nx, and rules of ESLint.
import nx from '@nx/eslint-plugin';
import { builtinRules } from 'eslint/use-at-your-own-risk';
import path from 'node:path';
import { writeProjectGraph } from './project-graph.mjs';

await writeProjectGraph();

const ROOT = path.resolve(import.meta.dirname, '../..');

/**
 * Rules by a selector of the syntax tree. A file without `word` has no such node, so the rule need not visit it.
 *
 * @type {Readonly<Record<string, { word: RegExp, selector: string, message: string }>>}
 */
const SYNTAX = {
  'private-fields': {
    word: /\bprivate\b/,
    selector: ":not(MethodDefinition[kind='constructor'])[accessibility='private']",
    message: 'Use #private, which is private at run time too.',
  },
  'camel-case-codes': {
    word: /ErrorCode\b/,
    selector: 'TSTypeAliasDeclaration[id.name=/ErrorCode$/] Literal[value=/^[a-z]+-/]',
    message: 'Write the code of an error in camel case.',
  },
  'one-word-each': {
    word: /\b(?:maxChannels|NameOrAddress)\b/,
    selector: 'Identifier[name=/^(?:maxChannels|NameOrAddress)$/]',
    message: 'Use the word of docs/architecture.md.',
  },
  // A program's output and its socket are unordered: output written before a socket event may arrive after the event.
  'awaited-output': {
    word: /\bstderr\b/,
    selector:
      "CallExpression[callee.property.name=/^to(?:Contain|Match)$/] > MemberExpression > CallExpression[callee.name='expect'] > CallExpression[callee.property.name='stderr']",
    message: 'Wait for what a program that runs says: await program.said(…).',
  },
  'no-using-in-loops': {
    word: /\busing\b/,
    selector:
      ':matches(ForStatement, ForInStatement, ForOfStatement, WhileStatement, DoWhileStatement) VariableDeclaration[kind=/using$/]',
    message:
      'Move the body of the loop to a function of its own: in a bundle, esbuild keeps the error of a round that failed, and throws it again at the end of the next one.',
  },
  // Such spreads shape the layout, which is the formatter's.
  'no-useless-spread': {
    word: /\.{3}[[{]/,
    selector:
      ':matches(ArrayExpression, ObjectExpression, CallExpression, NewExpression) > SpreadElement > :matches(ArrayExpression, ObjectExpression)',
    message: 'Write the elements in place of the spread.',
  },
  'name-after-export': {
    word: /^/,
    selector: 'Program',
    message: 'Name the file after its main export.',
  },
};

// A library may import only ground libraries, which have the tag `type:ground` (see docs/architecture.md). Applications combine libraries.
const boundaries = {
  enforceBuildableLibDependency: true,
  banTransitiveDependencies: true,
  // Code may import these statically, although other code loads them with `import()` when it needs them.
  checkDynamicDependenciesExceptions: ['@wins/linux-host', '@wins/windows-host'],
  allow: ['^.*/jest\\.preset\\.js$'],
  depConstraints: [
    {
      sourceTag: 'type:ground',
      onlyDependOnLibsWithTags: ['type:ground'],
      // The ground library `net` parses untrusted text with these.
      allowedExternalImports: ['yaml', 'zod/mini'],
    },
    {
      sourceTag: 'type:lib',
      onlyDependOnLibsWithTags: ['type:ground'],
      bannedExternalImports: ['koffi'],
    },
    // Only these libraries may call native code through koffi.
    { sourceTag: 'type:host-lib', onlyDependOnLibsWithTags: ['type:ground'] },
    {
      sourceTag: 'type:app',
      onlyDependOnLibsWithTags: ['type:ground', 'type:lib', 'type:host-lib'],
      bannedExternalImports: ['koffi'],
    },
    // The program parses the command lines of all applications, so it imports their types. It loads their bundles at run time.
    {
      sourceTag: 'type:program',
      onlyDependOnLibsWithTags: ['type:ground', 'type:lib', 'type:app'],
      bannedExternalImports: ['koffi'],
    },
  ],
};

// Specs of a `type:lib` library may also import host libraries, to test with real hosts. Specs of host libraries may import only ground
// libraries, because an import of `type:lib` would be circular.
const boundariesOfSpecs = {
  ...boundaries,
  depConstraints: [
    ...boundaries.depConstraints.filter(
      ({ sourceTag }) => !['type:lib', 'type:ground'].includes(sourceTag),
    ),
    {
      sourceTag: 'type:ground',
      onlyDependOnLibsWithTags: ['type:ground'],
      allowedExternalImports: ['fast-check', 'yaml', 'zod/mini'],
    },
    {
      sourceTag: 'type:lib',
      onlyDependOnLibsWithTags: ['type:ground', 'type:host-lib'],
      bannedExternalImports: ['koffi'],
    },
  ],
};

/** Rules that Oxlint lacks, or whose reports are wrong there. A file in which nothing matches has no fault. */
const OF_ESLINT = {
  'no-octal': /\b0\d/,
  'no-unused-private-class-members': /#\w/,
  // A constant has one value. These are declarations of variables, and assignments to a parameter.
  'no-useless-assignment':
    /(?:^|[({;]|\bexport)\s*(?:let|var)\b|^\s*[a-z]\w* [-+*/%&|^?<>]*= |\w(?:\+\+|--)(?!\w)|(?:^|[[({;=,?:&|<>+*/%]|\breturn)\s*(?:\+\+|--)[a-z]/m,
};

export default {
  meta: { name: 'wins' },
  rules: {
    boundaries: boundariesOf(boundaries),
    'boundaries-of-specs': boundariesOf(boundariesOfSpecs),
    ...Object.fromEntries(
      Object.entries(OF_ESLINT).map(([name, word]) => [name, where(word, builtinRules.get(name))]),
    ),
    ...Object.fromEntries(
      Object.entries(SYNTAX).map(([name, { word, selector, message }]) => [
        name,
        where(word, {
          create: (context) => ({ [selector]: (node) => context.report({ node, message }) }),
        }),
      ]),
    ),
  },
};

/**
 * Limits a rule to files whose text matches `word`, because visits of all nodes cost more than a search of the text.
 *
 * @param {RegExp} word
 * @param {*} rule
 */
function where(word, rule) {
  const create = (context) => (word.test(context.sourceCode.text) ? rule.create(context) : {});
  return { ...rule, create };
}

/**
 * Judges an import once for all files of a project, because the verdict depends on the project, the imported path or package, and the kind of import
 * alone.
 *
 * @param {typeof boundaries | typeof boundariesOfSpecs} options
 */
function boundariesOf(options) {
  /** @type {*} */
  const rule = nx.rules['enforce-module-boundaries'];
  /** @type {Set<string>} */
  const faultless = new Set();
  const create = (context) => {
    const folder = path.dirname(context.filename);
    const [project] = /^(?:libs|apps)\/[^/]+/.exec(path.relative(ROOT, folder)) ?? [folder];
    let faults = 0;
    const report = (fault) => {
      faults += 1;
      context.report(fault);
    };
    const properties = { options: { value: [options] }, report: { value: report } };
    const { CallExpression, ...visitors } = rule.create(Object.create(context, properties));
    const judged = Object.entries(visitors).map(([name, visit]) => [
      name,
      (node) => {
        const imported = node.source?.value;
        if (typeof imported !== 'string') return;
        const target = imported.startsWith('.') ? path.resolve(folder, imported) : imported;
        const key = [project, target, node.type, node.importKind].join(' ');
        if (faultless.has(key)) return;
        const before = faults;
        visit(node);
        if (faults === before) faultless.add(key);
      },
    ]);
    const calls = /\brequire\b/.test(context.sourceCode.text) ? { CallExpression } : {};
    return { ...Object.fromEntries(judged), ...calls };
  };
  return { ...rule, defaultOptions: [], create };
}
