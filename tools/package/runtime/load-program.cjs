'use strict';
const path = require('node:path');
const { Script } = require('node:vm');

// Packages look for files beside themselves. Nobody can put any there: it is below a file, or in /proc.
const NOWHERE =
  (exports.NOWHERE = `${process.platform === 'win32' ? process.execPath : '/proc/wins'}/inside/the/executable`);

/** A program's text as {@link loadProgram} takes it. Made while packaging: joined at run time, it would be in memory twice. */
exports.wrapProgram = (text) =>
  `(function (exports, require, module, __filename, __dirname) {${text}\n})`;

/** Compiles and runs a program as a CommonJS module. */
exports.loadProgram = function loadProgram({ name, source, module, require }) {
  const program = new Script(source, { filename: name }).runInThisContext();
  program(module.exports, require, module, path.join(NOWHERE, name), NOWHERE);
};
