import { parseSecurityDescriptor } from '@wins/base';

const EVERYONE = 'S-1-1-0';
const OWNER_RIGHTS = 'S-1-3-4';
/** SYSTEM and administrators. */
export const PRIVILEGED: readonly string[] = ['S-1-5-18', 'S-1-5-32-544'];
/** These and TrustedInstaller. */
export const SYSTEM_ACCOUNTS: readonly string[] = [
  ...PRIVILEGED,
  'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464',
];
const TRUSTED: readonly string[] = [...SYSTEM_ACCOUNTS, 'LA'];

/** Delete it, remove what is in it, change who may do what. */
const REPLACE = 0x1_0000 | 0x40 | 0x4_0000 | 0x8_0000;
/** That, and write or append data, or make files or folders in it; attributes and reparse points too. */
const WRITE = REPLACE | 0x2 | 0x4 | 0x10 | 0x100;

/**
 * Names the accounts besides the trusted ones that may write to a file or folder, delete it, change its access list, or that
 * own it, as SIDs and without repetition; empty when it is safe. Pure.
 *
 * It errs on the safe side: an entry that denies takes nothing away, one with a condition counts as if the condition held,
 * and no access list, or an unknown owner, counts as everyone. Entries for things to be made in the folder do not count.
 *
 * @param sddl with the owner and the access list.
 * @param trusted SIDs that are trusted besides SYSTEM, Administrators, the built-in Administrator and TrustedInstaller.
 * @throws TextError for text that is no SDDL.
 */
export function whoMayWrite(sddl: string, trusted: readonly string[] = []): readonly string[] {
  return whoMay(sddl, WRITE, trusted);
}

/**
 * Works like {@link whoMayWrite}, for a folder further up: returns who may replace a file or folder in it by another. Making
 * new ones does not count, because everyone may do so in the root of a drive.
 *
 * @throws TextError for text that is no SDDL.
 */
export function whoMayReplace(sddl: string, trusted: readonly string[] = []): readonly string[] {
  return whoMay(sddl, REPLACE, trusted);
}

/** Returns the accounts, besides the trusted ones, that have one of these rights or own it. */
export function whoMay(
  sddl: string,
  rights: number,
  trusted: readonly string[] = [],
): readonly string[] {
  const { owner = EVERYONE, entries } = parseSecurityDescriptor(sddl);
  const granted = (entries ?? [{ type: 'A', flags: [], rights, sid: EVERYONE }])
    .filter((entry) => entry.type.endsWith('A') && !entry.flags.includes('IO'))
    .filter((entry) => (entry.rights & rights) !== 0)
    .map(({ sid }) => sid);
  // What the owner's entry grants, it grants to the owner, who is judged already.
  const found = new Set([owner, ...granted.filter((sid) => sid !== OWNER_RIGHTS)]);
  return [...found].filter((sid) => !TRUSTED.includes(sid) && !trusted.includes(sid));
}
