'use strict';
const path = require('node:path');
const { Script } = require('node:vm');

// Packages look in this folder for files beside themselves. It cannot exist, because it is below a file or in /proc.
const NOWHERE =
  (exports.NOWHERE = `${process.platform === 'win32' ? process.execPath : '/proc/wins'}/inside/the/executable`);

/** Packaging wraps the program's text for {@link loadProgram}. Wrapping at run time would keep it in memory twice. */
exports.wrapProgram = (text) =>
  `(function (exports, require, module, __filename, __dirname) {${text}\n})`;

/**
 * V8 ignores a code cache that another Node has made.
 *
 * @param {{ name: string, source: string, module: any, require: any, cachedData?: Buffer | undefined }} program
 */
exports.loadProgram = function loadProgram({
  name,
  source,
  module,
  require,
  cachedData = undefined,
}) {
  const script = new Script(source, { filename: name, cachedData });
  const program = script.runInThisContext();
  program(module.exports, require, module, path.join(NOWHERE, name), NOWHERE);
  return script;
};
