// ESLint checks the dependencies in package.json only. Oxlint checks the code (see .oxlintrc.json).
import nx from '@nx/eslint-plugin';
import * as jsoncParser from 'jsonc-eslint-parser';
import { writeProjectGraph } from './tools/lint/project-graph.mjs';

await writeProjectGraph();

export default [
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
            '{projectRoot}/src/features/*/testing/**',
            '{projectRoot}/**/*long-spec.ts',
            '{projectRoot}/**/*release-spec.ts',
          ],
        },
      ],
    },
  },
];
