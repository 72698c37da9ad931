// node describe.mjs EXE: prints the headers and resources that Windows reads in an executable, as JSON.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { calculateCheckSumForPE, Format, NtExecutable, NtExecutableResource } from 'pe-library';
import { Resource } from 'resedit';

const bytes = readFileSync(process.argv[2]);
const executable = NtExecutable.from(bytes, { ignoreCert: true });
const { optionalHeader, optionalHeaderDataDirectory: directories } = executable.newHeader;
const { entries } = NtExecutableResource.from(executable);
const [info] = Resource.VersionInfo.fromEntries(entries);
const [language] = info.getAllLanguagesForStringValues();
const config = directories.get(Format.ImageDirectoryEntry.LoadConfig).virtualAddress;
const section = executable
  .getAllSections()
  .findLast(({ info: { virtualAddress } }) => virtualAddress <= config);
if (!section?.data) throw new Error('no section contains the load config');
const { info: at, data } = section;

const [code] = executable.getAllSections();
if (!code?.data) throw new Error('no section contains code');

const told = {
  machine: executable.newHeader.fileHeader.machine,
  // Without the zeros up to the end of the section in the file.
  code: createHash('sha256')
    .update(Buffer.from(code.data, 0, Math.min(code.info.virtualSize, code.data.byteLength)))
    .digest('hex'),
  texts: info.getStringValues(language),
  version: [info.fixedInfo.fileVersionMS, info.fixedInfo.fileVersionLS],
  resources: [...new Set(entries.map(({ type }) => type))].sort((a, b) => Number(a) - Number(b)),
  signatureBytes: directories.get(Format.ImageDirectoryEntry.Certificate).size,
  dependentLoadFlags: new DataView(data, config - at.virtualAddress).getUint16(78, true),
  checkSumIsRight: optionalHeader.checkSum === calculateCheckSumForPE(new Uint8Array(bytes).buffer),
};
process.stdout.write(JSON.stringify(told));
