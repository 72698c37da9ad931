// Runs the build and the checks. Each counts as one test.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { emptyResult } from './report.mjs';
import { root, runShown } from './run-shown.mjs';

const require = createRequire(import.meta.url);

export const nx = require.resolve('nx/bin/nx.js');
export const tsc = binOf('@typescript/native', 'bin/tsc');

export const checks = emptyResult('checks');

/**
 * @param {string} name
 * @param {string} file
 */
export function binOf(name, file) {
  return path.join(path.dirname(require.resolve(`${name}/package.json`)), file);
}

/**
 * Runs a Node program. Set `isBeside` if other programs run in parallel: the output then appears only when the program has ended.
 *
 * @param {string} title
 * @param {readonly string[]} args
 */
export async function check(title, args, { isBeside = false } = {}) {
  if (!isBeside) console.log(`\n── ${title}`);
  const { isGreen, ending, printed } = await runShown(args, isBeside ? { besideAs: title } : {});
  if (isGreen) checks.passed += 1;
  else checks.failures.push({ file: 'check', title, message: `${ending}\n${endOf(printed)}` });
}

export async function build() {
  await buildLibraries();
  await buildPrograms();
}

/** Bundles the programs from the sources, without their types. */
export async function buildPrograms() {
  await check('programs', [nx, 'run-many', '-t', 'build', '-p', 'apps/*', '--outputStyle=static']);
}

/**
 * Builds all libraries in one process, because separate processes would each read the types of the other libraries again. The check "lint and types"
 * finds errors of types.
 */
export async function buildLibraries() {
  const configs = readdirSync(path.join(root, 'libs'))
    .map((name) => path.join('libs', name, 'tsconfig.lib.json'))
    .filter((file) => existsSync(path.join(root, file)));
  await check('libraries', [tsc, '--build', '--noCheck', ...configs]);
}

/** @param {string} printed */
export function endOf(printed) {
  return printed.trimEnd().split('\n').slice(-14).join('\n');
}
