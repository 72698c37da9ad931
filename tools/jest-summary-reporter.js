// Writes {projectRoot}/test-output/summary.json, or the file in WINS_TEST_SUMMARY, for tools/suite/jest-projects.mjs. It writes after every spec
// file, so that the summary survives a crash. If a leaked socket, timer or child keeps a run from ending, it adds a failure that names the open
// handles.
const fs = require('node:fs');
const path = require('node:path');
const { stripVTControlCharacters } = require('node:util');

const LINGER_MS = 30_000;

module.exports = class SummaryReporter {
  constructor(globalConfig) {
    this.rootDir = globalConfig.rootDir;
    this.watching = globalConfig.watch || globalConfig.watchAll;
    /** @type {{ isComplete: boolean, passed: number, skipped: number, files: object[], failures: object[] }} */
    this.summary = { isComplete: false, passed: 0, skipped: 0, files: [], failures: [] };
  }

  onTestResult(_test, result) {
    const file = path.relative(this.rootDir, result.testFilePath);
    const { perfStats, testExecError, testResults } = result;
    const { summary } = this;
    const failed = testResults.filter(({ status }) => status === 'failed');
    summary.passed += result.numPassingTests;
    summary.skipped += result.numPendingTests + result.numTodoTests;
    summary.files.push({ file, durationMs: perfStats.runtime, passed: result.numPassingTests });
    for (const { fullName, failureMessages } of failed) {
      this.fail(file, fullName, failureMessages.join('\n'));
    }
    // A file that does not load, or whose worker dies, counts as one failure.
    if (failed.length === 0 && (testExecError || result.failureMessage)) {
      this.fail(file, 'the file could not be run', result.failureMessage ?? testExecError?.message);
    }
    this.write();
  }

  onRunComplete() {
    this.summary.isComplete = true;
    this.write();
    if (this.watching) return;
    // This timer is unref'd, so it fires only if something else keeps the event loop alive.
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(', ');
      const message = `open handles ${LINGER_MS} ms after the last test: ${open}`;
      this.fail('', 'the run ends when its tests have ended', message);
      this.write();
      console.error(message);
      process.exit(1);
    }, LINGER_MS).unref();
  }

  fail(file, title, message = '') {
    this.summary.failures.push({ file, title, message: stripVTControlCharacters(message) });
  }

  write() {
    const file =
      process.env.WINS_TEST_SUMMARY ?? path.join(this.rootDir, 'test-output', 'summary.json');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `${JSON.stringify(this.summary)}\n`);
  }
};
