// Linux loads a native addon only from a file, but does not need the file afterwards. This module writes the addon to a new private folder, and
// removes both right after loading. The addon runs with the rights of the process, so no account with fewer rights may replace the file. The parent
// is a folder of the system, never one from the environment, because a container may set the environment.
'use strict';
const { lstatSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');

/** Candidates in order; /tmp may be mounted without the right to execute. */
const FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

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
  throw new Error(`cannot load the native addon from a temporary folder: ${failures.join('; ')}`);
};

function loadFrom(folder, bytes) {
  const found = lstatSync(folder);
  // The sticky bit lets only an entry's owner rename it.
  const isSafe = (found.mode & WRITABLE_BY_OTHERS) === 0 || (found.mode & STICKY) !== 0;
  if (!found.isDirectory() || found.uid !== 0 || !isSafe)
    throw new Error(
      'others could replace files in it; it must belong to root and have the sticky bit',
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
