const path = require('node:path');

/** `WINS_TEST_TIER=long` selects the specs of `npm run test:all` instead of those of `npm test`. `WINS_TEST_ALL=1` then adds the release specs. */
const suffixes =
  process.env.WINS_TEST_TIER === 'long'
    ? [
        'full-spec.ts',
        'long-spec.ts',
        ...(process.env.WINS_TEST_ALL === '1' ? ['release-spec.ts'] : []),
      ]
    : ['spec.ts'];

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
  // Only a hang should reach this limit, even on a busy machine.
  testTimeout: 60_000,
  runner: path.join(__dirname, 'tools/jest-runner.js'),
  reporters: ['default', path.join(__dirname, 'tools/jest-summary-reporter.js')],
};
