// The first script inside an executable. The programs lie beside it as assets; each is compiled when it is first required.
// Nothing is ever loaded from a folder, but the native addon of Windows.
'use strict';
const path = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { compileProgram } = require('./compile-program.cjs');
const { loadNativeAddon } = require('./native-addon.cjs');

// Packages look for files beside themselves. Nobody can put any there: it is below a file, or in /proc.
const NOWHERE = `${process.platform === 'win32' ? process.execPath : '/proc/wins'}/inside/the/executable`;

const loaded = new Map();

function requireInside(name) {
  // The require() of an executable knows Node's own modules and nothing else.
  if (!name.startsWith('./')) return require(name);
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const asset = name.slice(2);
  if (asset.endsWith('.node')) module.exports = loadNativeAddon(getRawAsset(asset));
  else run(asset, module);
  return module.exports;
}

function run(asset, module) {
  // Windows takes no code cache that was made on another platform.
  const cache =
    process.platform === 'win32' ? undefined : Buffer.from(getRawAsset(`${asset}.cache`));
  const program = compileProgram(asset, getAsset(asset, 'utf8'), cache).runInThisContext();
  program(module.exports, requireInside, module, path.join(NOWHERE, asset), NOWHERE);
}

// What the caller typed stands here otherwise, which need not name a file.
process.argv[1] = process.execPath;
requireInside('./wins.cjs');
