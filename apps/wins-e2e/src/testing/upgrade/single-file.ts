import { standIn } from '../packages/package-folder.js';

/**
 * Returns an executable file that runs the built programs, which report `version`. The file is small, so that a start, a copy and a digest cost
 * little.
 *
 * @param more - JavaScript to run first; `args` holds the arguments.
 */
export function singleFile(version?: string, more = ''): string {
  return `#!${process.execPath}
const args = process.argv.slice(2);
${more}
${version === undefined ? '' : reporting(version)}
require(${JSON.stringify(standIn('wins.cjs'))});
`;
}

/** Makes Node load programs with another version. */
const reporting = (version: string) => `
require('node:module')._extensions['.cjs'] = (module, file) => {
  const text = require('node:fs').readFileSync(file, 'utf8');
  module._compile(text.replace(/VERSION ?= ?"v\\d[^"]*"/g, 'VERSION = "${version}"'), file);
};`;
