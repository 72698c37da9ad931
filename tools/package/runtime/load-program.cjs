'use strict';
const path = require('node:path');
const { Script } = require('node:vm');

// Packages look for files beside themselves. Nobody can put any there: it is below a file, or in /proc.
const NOWHERE =
  (exports.NOWHERE = `${process.platform === 'win32' ? process.execPath : '/proc/wins'}/inside/the/executable`);

/** A program's text as {@link loadProgram} takes it. Made while packaging: joined at run time, it would be in memory twice. */
exports.wrapProgram = (text) =>
  `(function (exports, require, module, __filename, __dirname) {${text}\n})`;

/**
 * Compiles and runs a program as a CommonJS module. A code cache fits if it was made of the same text under the same name, and no
 * flag of V8 differs; the compiled script is returned, of which such a cache can be made.
 */
exports.loadProgram = function loadProgram({ name, source, cachedData, module, require }) {
  const script = new Script(source, { filename: name, cachedData });
  script.runInThisContext()(module.exports, require, module, path.join(NOWHERE, name), NOWHERE);
  return script;
};
