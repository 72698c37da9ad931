'use strict';
const { Script } = require('node:vm');

/** Compiles a program as a CommonJS module. A code cache fits if it was made of the same text under the same name. */
exports.compileProgram = function compileProgram(name, text, cachedData) {
  const source = `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
  return new Script(source, { filename: name, cachedData });
};
