// node tools/lint/check-defaults-and-keys.mjs
// Compares documented defaults with the code, and fails when no code reads a key of the config. Both need the types of all sources.
import path from 'node:path';
import ts from 'typescript';
import { wrongKeys } from './config-key-is-read.mjs';
import { wrongDefaults } from './documented-default.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const CONFIG = 'libs/config/src/gen/wins-config.ts';
/** Specs and test doubles have no documented defaults, and are no readers of the config. */
const IN_TESTS = /\/testing\/|spec\.ts$|^apps\/wins-e2e\//;

const { config } = ts.readConfigFile(path.join(root, 'tsconfig.lint.json'), ts.sys.readFile);
const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const sources = fileNames.filter((file) => !IN_TESTS.test(path.relative(root, file)));
const program = ts.createProgram(sources, { ...options, types: ['node'] }, hostOf(options));
let faults = 0;
for (const name of sources) {
  const file = program.getSourceFile(name);
  const shown = path.relative(root, name);
  if (file === undefined) throw new Error(`cannot read ${shown}`);
  // A generator takes the defaults of the config from its schema.
  if (shown.startsWith('libs/') && shown !== CONFIG)
    report(file, shown, wrongDefaults(program, file));
  if (shown === CONFIG) report(file, shown, wrongKeys(program, file));
}
process.exitCode = faults === 0 ? 0 : 1;

/**
 * Reads doc comments of this repository alone.
 *
 * @param {ts.CompilerOptions} settings
 */
function hostOf(settings) {
  const host = ts.createCompilerHost(settings);
  const { ParseAll, ParseNone } = ts.JSDocParsingMode;
  /** @type {ts.CompilerHost['getSourceFile']} */
  const getSourceFile = (name, version, ...more) => {
    const target = typeof version === 'object' ? version : { languageVersion: version };
    const jsDocParsingMode = name.includes('/node_modules/') ? ParseNone : ParseAll;
    return host.getSourceFile(name, { ...target, jsDocParsingMode }, ...more);
  };
  return { ...host, getSourceFile };
}

/**
 * @param {ts.SourceFile} file
 * @param {string} shown
 * @param {Iterable<{ readonly node: ts.Node, readonly message: string }>} found
 */
function report(file, shown, found) {
  for (const { node, message } of found) {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
    console.error(`${shown}:${line + 1}: ${message}`);
    faults += 1;
  }
}
