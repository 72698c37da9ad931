// Writes {projectRoot}/test-output/summary.json for each project, or the file that WINS_TEST_SUMMARY names, which tools/suite/jest-projects.mjs
// reads, and turns a run that cannot end (a leaked socket, timer or child) into a failure that names what is still open.
// The file is written after every spec, so that it says how far a run came whose process died.
const fs = require('node:fs');
const path = require('node:path');
const { stripVTControlCharacters } = require('node:util');

const LINGER_MS = 5000;

module.exports = class SummaryReporter {
  constructor(globalConfig) {
    this.rootDir = globalConfig.rootDir;
    this.watching = globalConfig.watch || globalConfig.watchAll;
    /** By the folder of the project. */
    this.summaries = new Map();
  }

  onTestResult({ context }, result) {
    const { rootDir } = context.config;
    const file = path.relative(rootDir, result.testFilePath);
    const { perfStats, testExecError, testResults } = result;
    const summary = this.summaryOf(rootDir);
    const failed = testResults.filter(({ status }) => status === 'failed');
    summary.passed += result.numPassingTests;
    summary.skipped += result.numPendingTests + result.numTodoTests;
    summary.files.push({ file, durationMs: perfStats.runtime, passed: result.numPassingTests });
    for (const { fullName, failureMessages } of failed) {
      fail(summary, file, fullName, failureMessages.join('\n'));
    }
    // A file that does not even load, or whose worker died, counts as one failure.
    if (failed.length === 0 && (testExecError || result.failureMessage)) {
      const message = result.failureMessage ?? testExecError?.message;
      fail(summary, file, 'the file could not be run', message);
    }
    this.write();
  }

  onRunComplete() {
    for (const summary of this.summaries.values()) summary.isComplete = true;
    this.write();
    if (this.watching) return;
    // Unref'd: it fires only when something else still holds the event loop.
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ');
      const message = `open handles ${LINGER_MS} ms after the last test: ${open}`;
      const [summary = this.summaryOf(this.rootDir)] = this.summaries.values();
      fail(summary, '', 'the run ends when its tests have ended', message);
      this.write();
      console.error(message);
      process.exit(1);
    }, LINGER_MS).unref();
  }

  summaryOf(rootDir) {
    const known = this.summaries.get(rootDir);
    if (known !== undefined) return known;
    const summary = { isComplete: false, passed: 0, skipped: 0, files: [], failures: [] };
    this.summaries.set(rootDir, summary);
    return summary;
  }

  write() {
    for (const [rootDir, summary] of this.summaries) {
      const file =
        process.env.WINS_TEST_SUMMARY ?? path.join(rootDir, 'test-output', 'summary.json');
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, `${JSON.stringify(summary)}\n`);
    }
  }
};

function fail(summary, file, title, message = '') {
  summary.failures.push({ file, title, message: stripVTControlCharacters(message) });
}
