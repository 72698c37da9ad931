// Linux, too, loads a native addon from a file only. Once it is loaded it needs that file no more: it is written to a new folder of this
// account alone, and both are gone before anything else happens. What is loaded runs with the rights of the process: nobody with fewer rights may be
// able to put another file there meanwhile. The folder above is one of the system's, never one that the environment names, which may come
// from a container.
'use strict';
const { lstatSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');

/** The first may be mounted without the right to run anything. */
const FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** Loads the addon that consists of these bytes. */
exports.loadNativeAddon = function loadNativeAddon(content) {
  const bytes = Buffer.from(content);
  const failures = [];
  for (const folder of FOLDERS) {
    try {
      return loadFrom(folder, bytes);
    } catch (error) {
      failures.push(`${folder}: ${error instanceof Error ? error.message : error}`);
    }
  }
  throw new Error(`cannot load the native addon: found ${failures.join('; ')}`);
};

function loadFrom(folder, bytes) {
  const found = lstatSync(folder);
  // What is in such a folder can be renamed by its owner alone.
  const isSafe = (found.mode & WRITABLE_BY_OTHERS) === 0 || (found.mode & STICKY) !== 0;
  if (!found.isDirectory() || found.uid !== 0 || !isSafe)
    throw new Error(
      'others could replace what is in it; wanted a folder of root with the sticky bit',
    );
  const own = mkdtempSync(path.join(folder, 'rancher-wins-'));
  try {
    const file = path.join(own, 'koffi.node');
    writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 });
    const addon = { exports: {} };
    process.dlopen(addon, file);
    return addon.exports;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
