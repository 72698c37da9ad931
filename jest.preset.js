const path = require('node:path');

/** `WINS_TEST_TIER=long npx jest` in a project runs its long specs instead; with WINS_TEST_ALL=1 those of a release too. */
const suffixes = {
  long: ['long-spec.ts', ...(process.env.WINS_TEST_ALL === '1' ? ['release-spec.ts'] : [])],
}[process.env.WINS_TEST_TIER] ?? ['spec.ts'];

module.exports = {
  testEnvironment: 'node',
  // The source condition makes every @wins/* import resolve to TypeScript sources: no build needed.
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
  // A bound for what hangs, not a measure: real processes and connections on a busy machine take their time.
  testTimeout: 60_000,
  reporters: ['default', path.join(__dirname, 'tools/jest-summary-reporter.js')],
};
