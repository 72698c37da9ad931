// node --random-seed=1 code-cache.cjs NAME…   (run by the Node that goes into the executable)
// Loads each program of the working folder as the executable will, so that all that its start calls is compiled, and keeps
// that in NAME.cache. The seed orders the tables in a cache; it has no effect on whether the cache is accepted. A name is
// an argument as it stands: part of a longer string would take that along into the cache.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { loadProgram } = require('./runtime/load-program.cjs');

const load = (name) => {
  const source = readFileSync(name, 'utf8');
  const module = { exports: {} };
  // The program that is started first prints its help, which is another program.
  const own = (id) => (id.startsWith('./wins') ? load(id.slice(2)).exports : require(id));
  return { script: loadProgram({ name, source, module, require: own }), exports: module.exports };
};

for (const name of process.argv.splice(2))
  writeFileSync(`${name}.cache`, load(name).script.createCachedData());
