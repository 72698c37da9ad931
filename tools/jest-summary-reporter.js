// Writes {projectRoot}/test-output/summary.json, which tools/test-all.mjs adds up, and turns a run
// that cannot end (a leaked socket, timer or child) into a failure that names what is still open.
const fs = require('node:fs');
const path = require('node:path');

const LINGER_MS = 5000;

module.exports = class SummaryReporter {
  constructor(globalConfig) {
    this.rootDir = globalConfig.rootDir;
    this.watching = globalConfig.watch || globalConfig.watchAll;
  }

  onRunComplete(_contexts, results) {
    const passed = results.numPassedTests;
    // A suite that does not even load counts as one failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    this.write({ passed, failed, skipped });
    if (this.watching) return;
    // Unref'd: it fires only when something else still holds the event loop.
    setTimeout(() => {
      this.write({ passed, failed: failed + 1, skipped });
      console.error(
        `open handles ${LINGER_MS} ms after the last test: ${process.getActiveResourcesInfo().join(', ')}`,
      );
      process.exit(1);
    }, LINGER_MS).unref();
  }

  write(summary) {
    const directory = path.join(this.rootDir, 'test-output');
    fs.mkdirSync(directory, { recursive: true });
    fs.writeFileSync(path.join(directory, 'summary.json'), `${JSON.stringify(summary)}\n`);
  }
};
