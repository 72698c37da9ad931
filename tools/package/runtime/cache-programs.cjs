// node cache-programs.cjs FOLDER NAMES WORD…
// Runs a command of the wrapped programs in FOLDER. At the end, writes V8's code cache of each program that the command loaded and NAMES (separated by
// commas) lists to FOLDER/NAME.cache. The cache holds the functions that the command has called.
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { Script } = require('node:vm');
const { loadProgram, NOWHERE } = require('./load-program.cjs');

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

requireHere.main = { filename: path.join(NOWHERE, 'wins.cjs') };
process.on('exit', () => {
  for (const [name, script] of scripts) {
    if (!cached.has(name)) continue;
    const file = path.join(folder, name);
    const cachedData = script.createCachedData();
    const again = new Script(readFileSync(file, 'utf8'), { filename: name, cachedData });
    if (again.cachedDataRejected) throw new Error(`V8 rejects the code cache of ${name}`);
    writeFileSync(`${file}.cache`, cachedData);
  }
});
requireHere('./wins.cjs');
