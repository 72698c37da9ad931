// node cache-programs.cjs FOLDER NAMES WORD…
// Runs a command of the wrapped programs in FOLDER. At the end, writes V8's code cache of each program that the command loaded and NAMES (separated by
// commas) lists to FOLDER/NAME.cache. The cache holds the functions that the command has called. Without a WORD, runs nothing; the caches then hold all
// functions of their programs.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');
const { loadProgram, NOWHERE } = require('./load-program.cjs');

/** Compilers of V8 to machine code. */
const TIERS = ['sparkplug', 'maglev', 'turbofan'];

const [, , folder, names, ...words] = process.argv;
process.argv.splice(1, Infinity, process.execPath, ...words);
const cached = new Set(names.split(','));
const loaded = new Map();
const scripts = new Map();

function requireHere(request) {
  if (!request.startsWith('./')) return require(request);
  const known = loaded.get(request);
  if (known !== undefined) return known.exports;
  const name = request.slice(2);
  const module = { exports: {} };
  loaded.set(request, module);
  const source = readFileSync(path.join(folder, name), 'utf8');
  scripts.set(name, loadProgram({ name, source, module, require: requireHere }));
  return module.exports;
}

function compileAll() {
  setFlagsFromString('--no-lazy');
  for (const name of cached) {
    const source = readFileSync(path.join(folder, name), 'utf8');
    scripts.set(name, new Script(source, { filename: name }));
  }
  setFlagsFromString('--lazy');
}

// V8 notes in a function that it was compiled to machine code, which depends on chance. Each build must have the same bytes.
for (const tier of TIERS) setFlagsFromString(`--no-${tier}`);
requireHere.main = { filename: path.join(NOWHERE, 'wins.cjs') };
process.on('exit', () => {
  // V8 accepts a cache only with the flags that it was made with.
  for (const tier of TIERS) setFlagsFromString(`--${tier}`);
  for (const [name, script] of scripts)
    if (cached.has(name))
      writeFileSync(path.join(folder, `${name}.cache`), script.createCachedData());
});
if (words.length === 0) compileAll();
else requireHere('./wins.cjs');
