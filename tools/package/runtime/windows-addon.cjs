// Windows loads a native addon only from a file, so this module writes the addon to a folder first. The addon runs with the rights of the process, so
// no account with fewer rights may write there. Without the addon, access lists can be neither read nor set. Therefore the folder is in the profile
// of the process's account, which Windows protects. Its path comes from Windows, because a container may set the environment or share the folder of
// the executable.
'use strict';
const {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} = require('node:fs');
const { userInfo } = require('node:os');
const path = require('node:path');

const FOLDER = ['AppData', 'Local', 'rancher', 'wins', 'native'];
/** Names of our own files: addons, and temporary files from writing one. */
const OURS = /^(?:koffi-[0-9a-f]{16}\.node|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp)$/;
/** An older addon probably belongs to a removed release; a release that needs it rewrites it. */
const STALE_MS = 30 * 24 * 60 * 60 * 1000;

/** `digest` is the SHA-256, which names the file. Packaging computes it, because hashing is slow here. */
exports.loadNativeAddon = function loadNativeAddon(content, digest) {
  const bytes = Buffer.from(content);
  const folder = path.join(userInfo().homedir, ...FOLDER);
  const file = path.join(folder, `koffi-${digest.slice(0, 16)}.node`);
  try {
    extract(bytes, folder, file);
  } catch (cause) {
    throw new Error(
      `cannot write the native addon, which wins needs to call Windows, to ${file}: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    );
  }
  const addon = { exports: {} };
  process.dlopen(addon, file);
  return addon.exports;
};

/** Writes the file unless it already has this content. */
function extract(bytes, folder, file) {
  if (holds(file, bytes)) return;
  mkdirSync(folder, { recursive: true });
  removeStale(folder, file);
  // Loaded only here, because it loads slowly.
  const { randomUUID } = require('node:crypto');
  const temporary = path.join(folder, `${randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, bytes, { flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    // Another process may have written and loaded the same file meanwhile.
    if (!holds(file, bytes)) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Removes addons of earlier releases. A loaded addon cannot be removed and stays for the next release. */
function removeStale(folder, own) {
  const before = Date.now() - STALE_MS;
  try {
    // A link may lead to other programs' files with such names.
    if (!lstatSync(folder).isDirectory()) return;
    for (const name of readdirSync(folder)) {
      const file = path.join(folder, name);
      if (!OURS.test(name) || file === own) continue;
      const { mtimeMs } = lstatSync(file);
      if (mtimeMs < before) tryToRemove(file);
    }
  } catch {
    // Another process may be removing the same files.
  }
}

function tryToRemove(file) {
  try {
    unlinkSync(file);
  } catch {
    // The addon is loaded, or the path is a folder.
  }
}

function holds(file, bytes) {
  const found = lstatSync(file, { throwIfNoEntry: false });
  // A link is refused, because its target may change after this check.
  return (
    found?.isFile() === true && found.size === bytes.length && readFileSync(file).equals(bytes)
  );
}
