// First script inside an executable. The programs are assets, compiled when first required. Only the native addon is written to a folder and loaded
// from there.
'use strict';
const path = require('node:path');
const { getAsset, getRawAsset } = require('node:sea');
const { loadProgram, NOWHERE } = require('./load-program.cjs');

/** The native addon of this system and processor, whichever file name a program requires. */
const ADDON = 'addon.node';

const loaded = new Map();
// A daemon would keep the caches in memory all its life. The variable is set when this file is bundled.
const isDaemon = process.argv[2] === 'srv' && process.argv[3] === 'app';
const caches = new Set(isDaemon ? [] : process.env.WINS_CODE_CACHES?.split(','));

function requireInside(request) {
  // The require() of an executable knows Node's own modules and nothing else.
  if (!request.startsWith('./')) return require(request);
  const known = loaded.get(request);
  if (known !== undefined) return known.exports;
  const name = request.slice(2);
  const module = { exports: {} };
  loaded.set(request, module);
  if (name.endsWith('.node')) {
    // Loaded only here, because these modules load slowly and most commands do not need them.
    if (process.platform === 'win32')
      module.exports = require('./windows-addon.cjs').loadNativeAddon(
        getRawAsset(ADDON),
        getAsset(`${ADDON}.sha256`, 'utf8'),
      );
    else module.exports = require('./linux-addon.cjs').loadNativeAddon(getRawAsset(ADDON));
  } else {
    const cache = `${name}.cache`;
    /** Node does not copy it. Its types wrongly allow a string. */
    const bytes = () => /** @type {ArrayBuffer} */ (getRawAsset(cache));
    loadProgram({
      name,
      source: getAsset(name, 'utf8'),
      cachedData: caches.has(cache) ? Buffer.from(bytes()) : undefined,
      module,
      require: requireInside,
    });
  }
  return module.exports;
}

// Otherwise packages look for files of the main program in the working directory.
requireInside.main = { filename: path.join(NOWHERE, 'wins.cjs') };
// By default this is the caller's spelling of the command, which need not be a path.
process.argv[1] = process.execPath;
// Otherwise Node frees the memory piece by piece, which takes 2 ms. Now no output is pending.
process.once('beforeExit', () => process.exit());
requireInside('./wins.cjs');
