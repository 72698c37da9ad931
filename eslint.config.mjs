import nx from '@nx/eslint-plugin';
import * as jsoncParser from 'jsonc-eslint-parser';
import tseslint from 'typescript-eslint';
import { configKeyIsRead } from './tools/lint/config-key-is-read.mjs';
import { documentedDefault } from './tools/lint/documented-default.mjs';

// A library may import only ground libraries, which have the tag `type:ground` (see docs/architecture.md). Applications combine libraries.
const boundaries = {
  enforceBuildableLibDependency: true,
  banTransitiveDependencies: true,
  // Code may import these statically, although other code loads them with `import()` when it needs them.
  checkDynamicDependenciesExceptions: ['@wins/linux-host', '@wins/windows-host'],
  allow: ['^.*/eslint\\.config\\.mjs$', '^.*/jest\\.preset\\.js$'],
  depConstraints: [
    {
      sourceTag: 'type:ground',
      onlyDependOnLibsWithTags: ['type:ground'],
      // The ground library `net` parses untrusted text with these.
      allowedExternalImports: ['yaml', 'zod'],
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
      allowedExternalImports: ['fast-check', 'yaml', 'zod'],
    },
    {
      sourceTag: 'type:lib',
      onlyDependOnLibsWithTags: ['type:ground', 'type:host-lib'],
      bannedExternalImports: ['koffi'],
    },
  ],
};

const ownRules = {
  'config-key-is-read': configKeyIsRead,
  'documented-default': documentedDefault,
};

const privateFields = {
  selector: ":not(MethodDefinition[kind='constructor'])[accessibility='private']",
  message: 'Use #private, which is private at run time too.',
};

const camelCaseCodes = {
  selector: 'TSTypeAliasDeclaration[id.name=/ErrorCode$/] Literal[value=/^[a-z]+-/]',
  message: 'Write the code of an error in camel case.',
};

const oneWordEach = {
  selector: 'Identifier[name=/^(?:maxChannels|NameOrAddress)$/]',
  message: 'Use the word of docs/architecture.md.',
};

/** A program's output and its socket are unordered: output written before a socket event may arrive after the event. */
const unawaitedOutput = {
  selector:
    "CallExpression[callee.property.name=/^to(?:Contain|Match)$/] > MemberExpression > CallExpression[callee.name='expect'] > CallExpression[callee.property.name='stderr']",
  message: 'Wait for what a program that runs says: await program.said(…).',
};

const syntaxOfAll = [privateFields, camelCaseCodes, oneWordEach];

const usingInLoops = {
  selector:
    ':matches(ForStatement, ForInStatement, ForOfStatement, WhileStatement, DoWhileStatement) VariableDeclaration[kind=/using$/]',
  message:
    'Move the body of the loop to a function of its own: in a bundle, esbuild keeps the error of a round that failed, and throws it again at the end of the next one.',
};

export default tseslint.config(
  {
    ignores: [
      '**/dist',
      '**/out-tsc',
      '**/coverage',
      '**/test-output',
      '**/src/gen',
      '**/fixtures/programs',
    ],
  },
  ...nx.configs['flat/base'],
  ...nx.configs['flat/typescript'],
  ...nx.configs['flat/javascript'],
  {
    files: ['**/*.ts', '**/*.js', '**/*.mjs', '**/*.cjs'],
    rules: { '@nx/enforce-module-boundaries': ['error', boundaries] },
  },
  {
    files: [
      'libs/*/src/**/*.spec.ts',
      'libs/*/src/**/*.windows-spec.ts',
      'libs/*/src/testing/*-harness.ts',
    ],
    rules: { '@nx/enforce-module-boundaries': ['error', boundariesOfSpecs] },
  },
  {
    files: ['{libs,apps}/*/src/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    // Use one TypeScript program for all sources. With one per project, each would read its imported libraries again. `npm run check -- --changed`
    // sets the variable to a program of the changed sources.
    languageOptions: {
      parserOptions: {
        project: process.env.WINS_LINT_PROJECT ?? './tsconfig.lint.json',
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...syntaxOfAll],
    },
  },
  {
    files: ['{libs,apps}/*/src/**/*.ts'],
    // Specs may have `using` in loops, because an error ends the spec. No later iteration can then throw the same error again.
    ignores: ['**/*spec.ts'],
    rules: { 'no-restricted-syntax': ['error', ...syntaxOfAll, usingInLoops] },
  },
  {
    files: ['libs/*/src/**/*.ts'],
    ignores: ['**/*spec.ts', '**/testing/**'],
    plugins: { wins: { rules: ownRules } },
    rules: { 'wins/documented-default': 'error' },
  },
  {
    files: ['libs/config/src/wins-config.ts'],
    rules: { 'wins/config-key-is-read': 'error' },
  },
  {
    files: ['apps/wins-e2e/src/**/*spec.ts'],
    rules: { 'no-restricted-syntax': ['error', ...syntaxOfAll, unawaitedOutput] },
  },
  {
    files: ['**/{common,helper,helpers,types,util,utils}.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: 'Program', message: 'Name the file after its main export.' },
      ],
    },
  },
  {
    files: ['{libs,apps}/*/src/**/*.windows-{,long-,release-}spec.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            {
              from: 'package',
              package: 'node:test',
              name: ['after', 'afterEach', 'before', 'beforeEach', 'describe', 'it'],
            },
          ],
        },
      ],
    },
  },
  {
    files: ['libs/*/package.json', 'apps/*/package.json'],
    languageOptions: { parser: jsoncParser },
    plugins: { '@nx': nx },
    rules: {
      '@nx/dependency-checks': [
        'error',
        {
          ignoredFiles: [
            '{projectRoot}/jest.config.js',
            '{projectRoot}/**/*.spec.ts',
            '{projectRoot}/**/*.windows-spec.ts',
            '{projectRoot}/src/testing/*-harness.ts',
            '{projectRoot}/**/*long-spec.ts',
            '{projectRoot}/**/*release-spec.ts',
          ],
        },
      ],
    },
  },
);
