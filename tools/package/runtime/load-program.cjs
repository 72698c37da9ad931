'use strict';
const path = require('node:path');
const { Script } = require('node:vm');

// Packages look in this folder for files beside themselves. It cannot exist, because it is below a file or in /proc.
const NOWHERE =
  (exports.NOWHERE = `${process.platform === 'win32' ? process.execPath : '/proc/wins'}/inside/the/executable`);

/** Packaging wraps the program's text for {@link loadProgram}; at run time this would keep the text in memory twice. */
exports.wrapProgram = (text) =>
  `(function (exports, require, module, __filename, __dirname) {${text}\n})`;

exports.loadProgram = function loadProgram({ name, source, module, require }) {
  const program = new Script(source, { filename: name }).runInThisContext();
  program(module.exports, require, module, path.join(NOWHERE, name), NOWHERE);
};
