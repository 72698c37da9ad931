import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Format, NtExecutable, NtExecutableResource } from 'pe-library';
import { Resource } from 'resedit';
import { requireSameBlobs } from './checked-node.mjs';
import { preparationBlob } from './preparation-blob.mjs';
import { replaceOnce, runtimeFile } from './runtime-file.mjs';
import { generateWithPages } from './section-pages.mjs';

const BLOB_NAME = 'NODE_SEA_BLOB';
/** Name of the runtime's flag for an embedded blob: `:0` is off, `:1` is on. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const RT_ICON = 3;
const RT_RCDATA = 10;
const RT_GROUP_ICON = 14;
const UTF16 = 1200;
/** Offset of DependentLoadFlags in IMAGE_LOAD_CONFIG_DIRECTORY64. */
const DEPENDENT_LOAD_FLAGS = 78;
const LOAD_LIBRARY_SEARCH_SYSTEM32 = 0x800;
/** Runtimes that this process has read, by name. Tests make many executables of one runtime. */
const runtimes = new Map();

/**
 * Keeps the time stamp of the runtime, so that the same inputs always give the same executable.
 *
 * @param arch - `x64` or `arm64`.
 */
export async function makeWindowsExecutable(programs, out, version, arch = 'x64') {
  const runtime = `node-win-${arch}`;
  requireSameBlobs(runtime);
  // Remove the runtime's signature, because it does not cover the blob.
  const executable = NtExecutable.from(switchedOn(runtime), { ignoreCert: true });
  loadLibrariesFromSystemOnly(executable);
  const resources = NtExecutableResource.from(executable);
  describe(resources, path.basename(out), version);
  const blob = await preparationBlob('win32', arch, programs);
  const bin = blob.buffer.slice(blob.byteOffset, blob.byteOffset + blob.length);
  resources.entries.push({ type: RT_RCDATA, id: BLOB_NAME, lang: 0, codepage: 0, bin });
  resources.outputResource(executable);
  writeFileSync(out, generateWithPages(executable));
}

/**
 * Returns the pinned runtime with its flag for a blob on. The caller does not change the bytes.
 *
 * @param {string} name
 */
function switchedOn(name) {
  const bytes = runtimes.get(name) ?? runtimeFile(name);
  if (!runtimes.has(name)) replaceOnce(bytes, `${FUSE}:0`, `${FUSE}:1`);
  runtimes.set(name, bytes);
  return bytes;
}

/**
 * Makes Windows load the runtime's libraries only from System32. By default Windows also searches the executable's folder, where other users may be
 * able to place a library.
 */
function loadLibrariesFromSystemOnly(executable) {
  const entry = Format.ImageDirectoryEntry.LoadConfig;
  const directory = executable.newHeader.optionalHeaderDataDirectory.get(entry);
  const section = executable
    .getAllSections()
    .find(
      ({ info }) =>
        info.virtualAddress <= directory.virtualAddress &&
        directory.virtualAddress < info.virtualAddress + info.sizeOfRawData,
    );
  const offset = directory.virtualAddress - section.info.virtualAddress;
  const config = new DataView(section.data, offset);
  if (config.getUint32(0, true) < DEPENDENT_LOAD_FLAGS + 2)
    throw new Error('the load configuration of the runtime is too old to have DependentLoadFlags');
  config.setUint16(DEPENDENT_LOAD_FLAGS, LOAD_LIBRARY_SEARCH_SYSTEM32, true);
}

function describe(resources, file, version) {
  resources.entries = resources.entries.filter(
    ({ type }) => type !== RT_ICON && type !== RT_GROUP_ICON,
  );
  const [info] = Resource.VersionInfo.fromEntries(resources.entries);
  const [{ lang }] = info.getAllLanguagesForStringValues();
  info.removeAllStringValues({ lang, codepage: UTF16 });
  info.setFileVersion(version, lang);
  info.setProductVersion(version, lang);
  const texts = {
    FileDescription: 'Operates the Windows host from inside a Windows container',
    InternalName: 'wins',
    LegalCopyright: 'Apache License 2.0',
    OriginalFilename: file,
    ProductName: 'rancher-wins',
  };
  info.setStringValues({ lang, codepage: UTF16 }, texts);
  info.outputToResourceEntries(resources.entries);
}
