'use strict';
const path = require('node:path');
const { Script } = require('node:vm');

// Folder in which packages look for files beside themselves. It cannot exist, because it lies below a file or in /proc.
const NOWHERE =
  (exports.NOWHERE = `${process.platform === 'win32' ? process.execPath : '/proc/wins'}/inside/the/executable`);

/** Wraps a program's text for {@link loadProgram}. Packaging does this, because doing it at run time would keep the text in memory twice. */
exports.wrapProgram = (text) =>
  `(function (exports, require, module, __filename, __dirname) {${text}\n})`;

/** Compiles and runs a program as a CommonJS module. */
exports.loadProgram = function loadProgram({ name, source, module, require }) {
  const program = new Script(source, { filename: name }).runInThisContext();
  program(module.exports, require, module, path.join(NOWHERE, name), NOWHERE);
};
