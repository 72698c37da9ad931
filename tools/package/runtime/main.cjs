// The first script inside an executable. The programs lie beside it as assets; each is compiled when it is first required.
// Nothing is ever loaded from a folder, but the native addon, which is written there first.
'use strict';
const path = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { loadProgram, NOWHERE } = require('./load-program.cjs');

/** The one of this system and processor, however a program names it. */
const ADDON = 'addon.node';

const loaded = new Map();

function requireInside(request) {
  // The require() of an executable knows Node's own modules and nothing else.
  if (!request.startsWith('./')) return require(request);
  const known = loaded.get(request);
  if (known !== undefined) return known.exports;
  const name = request.slice(2);
  const module = { exports: {} };
  loaded.set(request, module);
  if (name.endsWith('.node')) {
    // Now, since most commands call nothing of the system, and what it needs of Node takes longer to load than the rest of this.
    if (process.platform === 'win32')
      module.exports = require('./windows-addon.cjs').loadNativeAddon(
        getRawAsset(ADDON),
        getAsset(`${ADDON}.sha256`, 'utf8'),
      );
    else module.exports = require('./linux-addon.cjs').loadNativeAddon(getRawAsset(ADDON));
  } else {
    loadProgram({ name, source: getAsset(name, 'utf8'), module, require: requireInside });
  }
  return module.exports;
}

// A package that looks for files beside the main program would take those of the working directory otherwise.
requireInside.main = { filename: path.join(NOWHERE, 'wins.cjs') };
// What the caller typed stands here otherwise, which need not name a file.
process.argv[1] = process.execPath;
requireInside('./wins.cjs');
