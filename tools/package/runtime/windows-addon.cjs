// Windows loads a native addon from a file only, so the one inside the executable is written to a folder first. What
// is loaded runs with the rights of the process: nobody with fewer rights may be able to write there. No access list
// can be read or set before the addon is loaded; therefore the folder lies in the profile of the account that the
// process runs as, which Windows itself keeps from others. The path comes from the system, because the environment may
// come from a container, and the folder of the executable may be shared with one.
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
/** Names that only our files have here: addons, and remains of writing one. */
const OURS = /^(?:koffi-[0-9a-f]{16}\.node|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp)$/;
/** So old an addon is taken for one of a release that is gone. One that is not gone writes it again. */
const STALE_MS = 30 * 24 * 60 * 60 * 1000;

/** Loads the addon that consists of these bytes, whose SHA-256 names its file; it was made while packaging, as it takes long here. */
exports.loadNativeAddon = function loadNativeAddon(content, digest) {
  const bytes = Buffer.from(content);
  const folder = path.join(userInfo().homedir, ...FOLDER);
  const file = path.join(folder, `koffi-${digest.slice(0, 16)}.node`);
  try {
    extract(bytes, folder, file);
  } catch (cause) {
    throw new Error(
      `wrote the native addon to ${file}: ${cause instanceof Error ? cause.message : cause}; without it nothing of Windows can be called`,
      { cause },
    );
  }
  const addon = { exports: {} };
  process.dlopen(addon, file);
  return addon.exports;
};

/** Leaves the file with these bytes: what has others is replaced, and what cannot be replaced is refused. */
function extract(bytes, folder, file) {
  if (holds(file, bytes)) return;
  mkdirSync(folder, { recursive: true });
  removeStale(folder, file);
  // Needed for this alone, and slow to load.
  const { randomUUID } = require('node:crypto');
  const temporary = path.join(folder, `${randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, bytes, { flag: 'wx' });
    renameSync(temporary, file);
  } catch (error) {
    // Another process that did the same has it loaded by now.
    if (!holds(file, bytes)) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Removes the addons of earlier releases: when the first process of a release comes, and before that process can fail. What is loaded
 * cannot be removed, nor need it be: whatever goes wrong, it stays for the next release to try.
 */
function removeStale(folder, own) {
  const before = Date.now() - STALE_MS;
  try {
    // A link may lead to where other files have such names.
    if (!lstatSync(folder).isDirectory()) return;
    for (const name of readdirSync(folder)) {
      const file = path.join(folder, name);
      if (!OURS.test(name) || file === own) continue;
      const { mtimeMs } = lstatSync(file);
      if (mtimeMs < before) tryToRemove(file);
    }
  } catch {
    // Another process removes the same.
  }
}

function tryToRemove(file) {
  try {
    unlinkSync(file);
  } catch {
    // It is loaded, or no file.
  }
}

function holds(file, bytes) {
  const found = lstatSync(file, { throwIfNoEntry: false });
  // A link is none: where it leads may change between a look and the load.
  return (
    found?.isFile() === true && found.size === bytes.length && readFileSync(file).equals(bytes)
  );
}
