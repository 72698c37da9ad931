import { parseSecurityDescriptor } from '@wins/base';

const EVERYONE = 'S-1-1-0';
const OWNER_RIGHTS = 'S-1-3-4';
/** SYSTEM and administrators. */
export const PRIVILEGED: readonly string[] = ['S-1-5-18', 'S-1-5-32-544'];
/** SYSTEM, administrators and TrustedInstaller. */
export const SYSTEM_ACCOUNTS: readonly string[] = [
  ...PRIVILEGED,
  'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464',
];
const TRUSTED: readonly string[] = [...SYSTEM_ACCOUNTS, 'LA'];

/** Rights to delete the object, remove its children, or change its access list or owner. */
const REPLACE = 0x1_0000 | 0x40 | 0x4_0000 | 0x8_0000;
/** REPLACE, plus the rights to write or append data, create children, and change attributes or reparse points. */
const WRITE = REPLACE | 0x2 | 0x4 | 0x10 | 0x100;

/**
 * Returns the SIDs of untrusted accounts that own a file or folder, or may write to it, delete it or change its
 * access list.
 *
 * Errs on the safe side: ignores deny entries, takes each condition as met, and treats a missing list or owner as
 * everyone. Ignores entries that only children inherit.
 *
 * @param trusted SIDs that are trusted besides SYSTEM, Administrators, the built-in Administrator and TrustedInstaller.
 * @throws TextError for text that is not SDDL.
 */
export function whoMayWrite(sddl: string, trusted: readonly string[] = []): readonly string[] {
  return whoMay(sddl, WRITE, trusted);
}

/** Like {@link whoMayWrite}, but ignores the rights to create children, because everyone may create folders in the root of a drive. */
export function whoMayReplace(sddl: string, trusted: readonly string[] = []): readonly string[] {
  return whoMay(sddl, REPLACE, trusted);
}

export function whoMay(sddl: string, rights: number, trusted: readonly string[] = []) {
  const { owner = EVERYONE, entries } = parseSecurityDescriptor(sddl);
  const granted = (entries ?? [{ type: 'A', flags: [], rights, sid: EVERYONE }])
    .filter((entry) => entry.type.endsWith('A') && !entry.flags.includes('IO'))
    .filter((entry) => (entry.rights & rights) !== 0)
    .map(({ sid }) => sid);
  // The entry for OWNER RIGHTS grants rights to the owner, who is judged already.
  const found = new Set([owner, ...granted.filter((sid) => sid !== OWNER_RIGHTS)]);
  return [...found].filter((sid) => !TRUSTED.includes(sid) && !trusted.includes(sid));
}
