// Programs preload this file (--require). When a program ends, it writes the bundles and the public modules of Node that it loaded to the file named
// by WINS_LOADED_FILE, as JSON. Modules that an empty program loads are left out.
'use strict';
const { writeFileSync } = require('node:fs');
const { builtinModules } = require('node:module');
const path = require('node:path');

/** @returns {string[]} */
const loadedModules = () => Reflect.get(process, 'moduleLoadList');
const byEmptyProgram = new Set(loadedModules());

process.on('exit', () => {
  const modules = loadedModules()
    .filter((entry) => !byEmptyProgram.has(entry))
    .map((entry) => entry.replace('NativeModule ', ''))
    .filter((name) => builtinModules.includes(name) && !name.startsWith('_'));
  const bundles = Object.keys(require.cache)
    .map((file) => path.basename(file))
    .filter((name) => /^wins.*\.cjs$/.test(name));
  const loaded = { bundles: bundles.sort(), modules: modules.sort() };
  writeFileSync(process.env.WINS_LOADED_FILE ?? '', JSON.stringify(loaded));
});
