import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hashFile, openTrustedFile, posixFileTrust, replaceFile } from '@wins/trusted-files';
import { windowsFileTrust } from '@wins/windows-host';

const trust = process.platform === 'win32' ? windowsFileTrust() : posixFileTrust();
const folder = path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'state');
trust.ensurePrivateFolder(folder);
await replaceFile(path.join(folder, 'state.json'), '{}');
const file = await openTrustedFile(path.join(folder, 'state.json'), trust);
console.log(await hashFile(file, ['sha256']));
await file.handle.close();
