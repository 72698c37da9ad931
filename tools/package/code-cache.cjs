// node --random-seed=1 code-cache.cjs [PROGRAM CACHE]…   (run by the Node that goes into the executable)
// Compiles each program as the executable will, loads it, so that all that its start calls is compiled too, and keeps that.
// The seed orders the tables in a cache; it has no effect on whether the cache is accepted.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { compileProgram } = require('./runtime/compile-program.cjs');

const files = process.argv.splice(2);
for (let index = 0; index < files.length; index += 2) {
  const [program, cache] = files.slice(index, index + 2);
  const script = compileProgram(path.basename(program), readFileSync(program, 'utf8'));
  script.runInThisContext()({}, require, { exports: {} }, program, path.dirname(program));
  writeFileSync(cache, script.createCachedData());
}
