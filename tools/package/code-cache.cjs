// node --random-seed=1 code-cache.cjs NAME…   (run by the Node that goes into the executable, while a daemon answers)
// Loads each program of the working folder as the executable will, prints the help, and asks the daemon as `wins cli app info` does. What was
// called is compiled by then; it is kept in NAME.cache, and what others call is compiled when they do. The seed orders the tables in a cache; it
// has no effect on whether the cache is accepted. A name is an argument as it stands: part of a longer string would take that along into the cache.
'use strict';
const { readFileSync, utimesSync, writeFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { loadProgram } = require('./runtime/load-program.cjs');

// A cache says which functions are hot enough for the quick compiler, and a busy machine makes others hot.
setFlagsFromString('--no-sparkplug');

/** The program that is started; it requires the others. */
const MAIN = 'wins.cjs';
const names = process.argv.splice(2);
const loaded = new Map();

function load(name) {
  const source = readFileSync(name, 'utf8');
  const module = { exports: {} };
  const own = (id) => {
    if (!id.startsWith('./wins')) return require(id);
    return (loaded.get(id.slice(2)) ?? load(id.slice(2))).exports;
  };
  const program = { exports: module.exports };
  loaded.set(name, program);
  program.script = loadProgram({ name, source, module, require: own });
  program.exports = module.exports;
  return program;
}

for (const name of names) if (name !== MAIN && !loaded.has(name)) load(name);
// The digest of a program that has yet to be changed is never remembered: nothing is left in the profile of who builds this, nor is
// what is compiled another the next time.
const year = new Date().getUTCFullYear() + 1;
utimesSync(MAIN, Date.UTC(year) / 1000, Date.UTC(year) / 1000);
process.argv[1] = MAIN;
// Without a command it prints its help.
load(MAIN);
process.once('beforeExit', () => {
  process.argv.push('cli', 'app', 'info');
  load(MAIN);
  // The command ends the process.
  process.on('exit', (code) => {
    if (code !== 0) return;
    // A cache is good for the flags alone with which it is made.
    setFlagsFromString('--sparkplug');
    for (const name of names)
      writeFileSync(`${name}.cache`, loaded.get(name).script.createCachedData());
  });
});
