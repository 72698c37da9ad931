const isLong = process.env.WINS_TEST_TIER === 'long';

module.exports = {
  preset: '../../jest.preset.js',
  displayName: 'wins-e2e',
  // Full and long specs differ much in length, so that each worker takes one file after another.
  ...(isLong && { runner: 'jest-runner' }),
  // Specs of another project, or the Windows suite, run beside them. On two processors four files at a time cost more, and end no earlier.
  maxWorkers: 2,
  // Guards against hangs only: real processes are slow on a busy machine. With WINS_TEST_ALL=1, one test may crash a program a hundred times.
  testTimeout: process.env.WINS_TEST_ALL === '1' ? 7_200_000 : isLong ? 900_000 : 300_000,
};
