// npm run check [-- --changed]
// Checks format, lint and types, pages and generated files. Runs two checks in parallel, because each uses one processor. With --changed, checks only
// files that differ from the upstream of the branch, or from HEAD if the branch has none, and tests a touched chart, package or alert, which
// `npm run test:all` tests whole; types of files that import a changed file are left to the whole check.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { changedFiles } from './suite/changed-files.mjs';
import { binOf, build, buildLibraries, check, checks, nx } from './suite/checks.mjs';
import { checkDeliverables } from './suite/deliverable-checks.mjs';
import { GENERATORS } from './suite/generators.mjs';
import { printReport } from './suite/report.mjs';
import { root } from './suite/run-shown.mjs';

const { values } = parseArgs({ options: { changed: { type: 'boolean', default: false } } });
const changed = values.changed ? changedFiles() : undefined;
const TESTS_OF_TOOLS = [
  'tools/bench/bench.test.mjs',
  'tools/import-circles.test.mjs',
  'tools/jest-runner.test.mjs',
  'tools/lint/config-key-is-read.test.mjs',
  'tools/lint/documented-default.test.mjs',
  'tools/lint/plugin.test.mjs',
  'tools/monitoring/known-names.test.mjs',
  'tools/prose-rules.test.mjs',
  'tools/references/config-types.test.mjs',
  'tools/suite/only-documentation.test.mjs',
  'tools/suite/spec-files.test.mjs',
  'tools/windows/acceptance.test.mjs',
];
/** Loads all of them in one process, because each process would load TypeScript and Node again. */
const LOAD_TESTS = TESTS_OF_TOOLS.map((file) => `import './${file}';`).join('\n');
const ANY = /^/;
const SOURCES = /^(?:libs|apps)\//;
const LINTED = /^(?:libs|apps|tools|examples)\/.*\.[cm]?[jt]s$/;

// The compilers of types are written in Go and end before memory runs short, so they need to collect garbage only rarely (default 100).
process.env.GOGC ??= '400';
if (changed === undefined) await build();
else if (isTouched(/^libs\//)) await buildLibraries();
const results = [checks];
await Promise.all([checkSources(), checkWhatIsBuilt()]);
process.exitCode = printReport(results) ? 0 : 1;

async function checkSources() {
  await when(/package(?:-lock)?\.json$/, 'lock file', 'tools/check-lock.mjs');
  await when(/^(?:libs|apps|tools|examples)\//, 'exports have users', 'tools/unused-exports.mjs');
  await when(ANY, 'what pages name', 'tools/check-docs.mjs');
  await when(/\.(?:[cm]?[jt]s|md)$/, 'prose', 'tools/prose.mjs');
  await when(/\.ps1$|\.md$/, 'scripts of PowerShell', 'tools/check-powershell.mjs');
  await when(SOURCES, 'circles, sizes of folders, what files know', 'tools/figures.mjs', '--check');
  await when(/^tools\//, 'tests of tools', '--input-type=module', '--eval', LOAD_TESTS);
  await when(SOURCES, 'project references', nx, 'sync:check');
  const there = changed?.filter((file) => existsSync(path.join(root, file)));
  const format = [binOf('oxfmt', 'bin/oxfmt'), '--check', '--no-error-on-unmatched-pattern'];
  await over(there ?? ['.'], 'format', ...format);
  const lint = [binOf('oxlint', 'bin/oxlint'), '--no-error-on-unmatched-pattern'];
  const linted = there?.filter((file) => LINTED.test(file)) ?? [
    'libs',
    'apps',
    'tools',
    'examples',
  ];
  await over(linted, 'lint and types', ...lint);
}

async function checkWhatIsBuilt() {
  const eslint = binOf('eslint', 'bin/eslint.js');
  const manifests = ['libs/*/package.json', 'apps/*/package.json'];
  await when(SOURCES, 'dependencies of packages', eslint, ...manifests);
  for (const { title, of, args } of GENERATORS) await when(of, title, ...args, '--check');
  await when(/^examples\//, 'manifests of examples/', 'tools/check-examples.mjs');
  // The whole of them belongs to npm run test:all.
  if (changed !== undefined) results.push(...(await checkDeliverables(isTouched)));
}

/** @param {RegExp} paths */
function isTouched(paths) {
  return changed === undefined || changed.some((file) => paths.test(file));
}

/**
 * Runs a check if a changed file matches `paths`, or if --changed was not given.
 *
 * @param {RegExp} paths
 * @param {string} title
 * @param {readonly string[]} args
 */
async function when(paths, title, ...args) {
  if (isTouched(paths)) await check(title, args, { isBeside: true });
}

/**
 * Runs a check of files, if there are any.
 *
 * @param {readonly string[]} files
 * @param {string} title
 * @param {readonly string[]} args
 */
async function over(files, title, ...args) {
  if (files.length > 0) await check(title, [...args, ...files], { isBeside: true });
}
