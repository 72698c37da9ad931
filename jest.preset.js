const path = require('node:path');

/** `WINS_TEST_TIER=long npx jest` in a project runs its long specs instead; WINS_TEST_ALL=1 adds those of a release. */
const suffixes = {
  long: ['long-spec.ts', ...(process.env.WINS_TEST_ALL === '1' ? ['release-spec.ts'] : [])],
}[process.env.WINS_TEST_TIER] ?? ['spec.ts'];

module.exports = {
  testEnvironment: 'node',
  // The source condition resolves @wins/* imports to TypeScript sources, so no build is needed.
  testEnvironmentOptions: { customExportConditions: ['@wins/source', 'node', 'node-addons'] },
  testMatch: suffixes.map((suffix) => `<rootDir>/src/**/*.${suffix}`),
  moduleFileExtensions: ['ts', 'js', 'cjs', 'mjs', 'json', 'node'],
  resolver: path.join(__dirname, 'tools/jest-resolver.js'),
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022', keepClassNames: true },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
        swcrc: false,
      },
    ],
  },
  // Guards against hangs only: real processes and connections are slow on a busy machine.
  testTimeout: 60_000,
  reporters: ['default', path.join(__dirname, 'tools/jest-summary-reporter.js')],
};
