import { accessRights, parseSecurityDescriptor } from '@wins/base';
import { descriptorFromText } from '../access/file-security.js';
import { setSecurity } from '../access/private-file.js';
import { processAccount } from '../access/process-account.js';
import { SYSTEM_ACCOUNTS } from '../access/who-may-write.js';
import * as win32 from '../win32/advapi32.js';
import { WindowsError } from '../windows-error.js';
import { readBytes, writePendingFile } from '@wins/trusted-files';
import { createHash } from 'node:crypto';

/** Reads and writes one kind of item of the node. */
export interface NodeStore<Item, State> {
  read(item: Item): Promise<State | undefined>;
  /** Removes the item if `state` is undefined. `content` is the path of a private file whose digest is in the state. */
  write(item: Item, state: State | undefined, content: string | undefined): Promise<void>;
}

/** Store for items that have a content, such as files, which it can copy. */
export interface ContentStore<Item, State> extends NodeStore<Item, State> {
  /** Writes the content of an item to a new file, which inherits the access list of its folder. */
  keep(item: Item, file: string): Promise<void>;
}

export type Presence = 'present';

export function presence(isThere: boolean): Promise<Presence | undefined> {
  return Promise.resolve(isThere ? 'present' : undefined);
}

/** Rights of everyone, by access word. */
const FOR_EVERYONE: Readonly<Record<string, string>> = {
  private: '',
  readable: 'FR',
  executable: 'FRFX',
};
/** A SID, because the names of accounts differ by language. */
const EVERYONE = 'S-1-1-0';

/** Gives administrators, SYSTEM and this account all rights. Returns undefined for an unknown access word. */
function accessDescriptor(word: string, isFolder: boolean): string | undefined {
  const everyone = FOR_EVERYONE[word];
  if (everyone === undefined) return undefined;
  const { user, isPrivileged } = processAccount();
  const flags = isFolder ? 'OICI' : '';
  const full = (sid: string): string => `(A;${flags};FA;;;${sid})`;
  const rights = rightsOf(everyone, isFolder);
  const others = rights === '' ? '' : `(A;${flags};${rights};;;WD)`;
  const owner = isPrivileged ? 'O:BAG:SY' : '';
  return `${owner}D:PAI${full('BA')}${full('SY')}${isPrivileged ? '' : full(user)}${others}`;
}

/** Returns the access word whose rights for Everyone match `sddl`, or `sddl` itself when no word matches. */
export function accessOf(sddl: string, isFolder: boolean): string {
  const { owner, entries } = parseSecurityDescriptor(sddl);
  const known = [...SYSTEM_ACCOUNTS, processAccount().user];
  // No access word matches in two cases. An owner that is not in `known` could change the access list. Without an
  // access list, everyone has all rights.
  if (owner === undefined || !known.includes(owner) || entries === undefined) return sddl;
  const others = entries.filter(({ sid }) => !known.includes(sid));
  if (others.some(({ type, sid }) => type !== 'A' || sid !== EVERYONE)) return sddl;
  const given = others.reduce((all, { rights }) => all | rights, 0);
  const word = Object.entries(FOR_EVERYONE).find(
    ([, rights]) => accessRights(rightsOf(rights, isFolder)) === given,
  );
  return word?.[0] ?? sddl;
}

/** An account that may read a folder may also traverse it (FX). */
function rightsOf(rights: string, isFolder: boolean): string {
  return isFolder && rights !== '' ? 'FRFX' : rights;
}

/** `access` is an access word such as `private`, or SDDL from {@link accessOf}. @throws WindowsError `invalidArgument`. */
export function descriptorOf(access: string, isFolder: boolean): Buffer {
  return descriptorFromText(accessDescriptor(access, isFolder) ?? access);
}

export function setAccess(location: string, access: string, isFolder: boolean): void {
  const text = accessDescriptor(access, isFolder) ?? access;
  const { owner, group, isProtected } = parseSecurityDescriptor(text);
  const information =
    (owner === undefined ? 0 : win32.OWNER_SECURITY_INFORMATION) |
    (group === undefined ? 0 : win32.GROUP_SECURITY_INFORMATION) |
    win32.DACL_SECURITY_INFORMATION |
    (isProtected
      ? win32.PROTECTED_DACL_SECURITY_INFORMATION
      : win32.UNPROTECTED_DACL_SECURITY_INFORMATION);
  setSecurity(location, information, text);
}

export function refused(tried: string, found: string): WindowsError {
  return new WindowsError('invalidArgument', `${tried}: found ${found}`);
}

const MAX_BYTES = 1024 * 1024;

/** Checks the digest. No error quotes the content. */
export async function contentIn(file: string | undefined, sha256: string): Promise<Buffer> {
  if (file === undefined) throw refused('cannot read content', 'no file with it');
  const bytes = await readBytes(file, { maxBytes: MAX_BYTES });
  if (digestOf(bytes) === sha256) return bytes;
  throw refused('cannot read content', `another digest than ${sha256}`);
}

/** Writes the file and flushes it to the disk. */
export async function keepBytes(file: string, bytes: Buffer): Promise<void> {
  await writePendingFile(`${file}.kept`, { mode: 0o600 }, (write) => write(bytes, 0), file);
}

/** SHA-256 in lower-case hexadecimal. */
export function digestOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
