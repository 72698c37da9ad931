// Jest runner of the specs. Jest evaluates all modules anew for each spec file, which costs more than most specs do. Modules have no state, so this
// runner joins the spec files of a run into groups, one for each worker, and the files of a group share their modules. Reporters still get one
// result for each spec file. A single file is not joined, nor is a run with -t, because names of tests would differ.
const fs = require('node:fs');
const path = require('node:path');
const { formatResultsErrors } = require('jest-message-util');
const { default: TestRunner } = require('jest-runner');

/** Properties of a test result that count tests, with the status of these tests. */
const COUNTS = {
  numPassingTests: 'passed',
  numFailingTests: 'failed',
  numPendingTests: 'pending',
  numTodoTests: 'todo',
};

module.exports = class SharedModulesRunner extends TestRunner {
  /** Tests of each group, by the path of the group's file. */
  #groups = new Map();

  /** @override */
  async runTests(tests, watcher, options) {
    const isJoined = this._globalConfig.testNamePattern === undefined;
    const projects = [...new Set(tests.map(({ context }) => context))];
    const joined = projects.flatMap((project) => {
      const ofProject = tests.filter(({ context }) => context === project);
      return isJoined && ofProject.length > 1 ? this.#join(ofProject) : ofProject;
    });
    return super.runTests(joined, watcher, options);
  }

  /** Returns one test for each worker, whose file loads every nth spec file of the project. */
  #join(tests) {
    const [{ context }] = tests;
    const folder = path.join(context.config.rootDir, 'test-output', 'groups');
    fs.mkdirSync(folder, { recursive: true });
    const sorted = tests.toSorted((a, b) => a.path.localeCompare(b.path));
    const count = Math.min(this._globalConfig.maxWorkers, tests.length);
    return Array.from({ length: count }, (_, number) => {
      const file = path.join(folder, `${number + 1}.js`);
      const group = sorted.filter((_, place) => place % count === number);
      fs.writeFileSync(file, group.map((test) => loading(test.path)).join(''));
      this.#groups.set(file, group);
      return { context, path: file };
    });
  }

  /** @override Passes on what is reported of a group, as reports of its spec files. */
  on(eventName, listener) {
    return super.on(eventName, async ([subject, report]) => {
      const group = this.#groups.get(subject.path ?? subject);
      if (group === undefined) return listener([subject, report]);
      if (eventName.startsWith('test-case-')) {
        const [file] = report.ancestorTitles;
        return listener([file, withoutFile(report)]);
      }
      for (const test of group)
        await listener([
          test,
          eventName === 'test-file-success' ? this.#partOf(report, test) : report,
        ]);
    });
  }

  /** Returns the result of one spec file of a group. */
  #partOf(result, { path: file, context }) {
    const testResults = result.testResults
      .filter(({ ancestorTitles }) => ancestorTitles[0] === file)
      .map(withoutFile);
    const runtime = testResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0);
    const counts = Object.entries(COUNTS).map(([count, status]) => [
      count,
      testResults.filter((one) => one.status === status).length,
    ]);
    return {
      ...result,
      ...Object.fromEntries(counts),
      testFilePath: file,
      testResults,
      failureMessage: formatResultsErrors(testResults, context.config, this._globalConfig, file),
      perfStats: { ...result.perfStats, runtime },
      // The whole group has logged this: its first file reports it.
      console: this.#groups.get(result.testFilePath)[0].path === file ? result.console : undefined,
    };
  }
};

/**
 * Returns code that loads a spec file. Its hooks are those of a block, and its own error fails one test.
 *
 * @param {string} file
 */
function loading(file) {
  const name = JSON.stringify(file);
  return `describe(${name}, () => {
  try {
    require(${name});
  } catch (error) {
    test('the file loads', () => { throw error; });
  }
});
`;
}

/** Returns the report of a test without the outermost block, which is the file. */
function withoutFile(report) {
  const [file, ...ancestorTitles] = report.ancestorTitles;
  return { ...report, ancestorTitles, fullName: report.fullName.slice(file.length + 1) };
}
