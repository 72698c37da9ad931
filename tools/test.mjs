// npm test [-- JEST OPTIONS]
// Runs the unit specs of all projects, and end-to-end specs of the main jobs with the programs that it builds in dist/. Nx runs again only what
// a change can affect. It begins with the tests of the projects that have a target `test-early`, because it begins with the tasks on which others
// depend: these tests take longest, and would run alone at the end. Prints the failures and the total of all projects at the end.
import { nx } from './suite/checks.mjs';
import { runJestProjects } from './suite/jest-projects.mjs';
import { printReport } from './suite/report.mjs';

const ARGS = process.argv.slice(2);
/** Jest itself uses further processors. On two of them a third project costs a fifth more processor time, and a tenth more time. */
const PARALLEL = 2;

const results = await runJestProjects([
  nx,
  'run-many',
  '-t',
  'test',
  'test-early',
  '--outputStyle=static',
  `--parallel=${PARALLEL}`,
  ...ARGS,
]);
process.exitCode = printReport(results) ? 0 : 1;
