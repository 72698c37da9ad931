import { TextError } from '../text/text-error.js';
import {
  parseSecurityDescriptor,
  type AccessEntry,
  type SecurityDescriptor,
} from './security-descriptor.js';
import { describeTrustee, isKnownToHostAlone, isPrivileged } from './pipe-trustees.js';

/** Verdict on the access list of the daemon's pipes. Each text is a clause such as `it has no access list`. */
export interface PipeAccessVerdict {
  /** Why a daemon cannot serve its pipes with this list. */
  readonly fault?: string | undefined;
  /** Warnings about accounts that should not control this host or serve its pipes, and about aliases that other hosts cannot resolve. */
  readonly doubts: readonly string[];
}

/** SDDL that gives access to administrators and SYSTEM only, and inherits nothing. */
export const ADMINISTRATORS_AND_SYSTEM = 'D:P(A;;GA;;;BA)(A;;GA;;;SY)';

const SYSTEM = 'S-1-5-18';
const ADMINISTRATORS = 'S-1-5-32-544';
/** SIDs in the token of the daemon, which runs as SYSTEM. */
const OF_SYSTEM: ReadonlySet<string> = new Set([SYSTEM, ADMINISTRATORS, 'S-1-1-0', 'S-1-5-11']);
const OWNERS: ReadonlySet<string> = new Set([SYSTEM, ADMINISTRATORS]);
/** Rights that the daemon itself needs to open another instance of its pipe: FILE_GENERIC_READ and FILE_GENERIC_WRITE. */
const SERVES = 0x12_019f;
/** Rights to write, create instances, delete, or change the access list or owner. Each lets an account send commands, or give itself that right. */
const COMMANDS = 0x2 | 0x4 | 0x10 | 0x40 | 0x100 | 0x1_0000 | 0x4_0000 | 0x8_0000;
/**
 * Rights to serve the pipe, or to grant oneself that right: FILE_CREATE_PIPE_INSTANCE, WRITE_DAC, WRITE_OWNER. If an
 * unprivileged account has one of them, clients in containers refuse the pipe.
 */
const SERVE = 0x4 | 0x4_0000 | 0x8_0000;
/** An access list has at most 64 KiB, and an entry at most 76 bytes, so this many entries always fit. */
const MAX_ENTRIES = 800;

/**
 * Judges an access list for the daemon's pipes. Needs only the SDDL, so the check works on any system. Warns too often rather than
 * too rarely: deny entries do not prevent a warning, and a single right to write causes one.
 */
export function judgePipeAccess(sddl: string): PipeAccessVerdict {
  let descriptor: SecurityDescriptor;
  try {
    descriptor = parseSecurityDescriptor(sddl);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    return { fault: error.found ?? error.message, doubts: [] };
  }
  const fault = faultOf(descriptor, sddl);
  if (fault !== undefined) return { fault, doubts: [] };
  const broad = granted(descriptor, COMMANDS).flatMap((sid) => {
    const who = describeTrustee(sid);
    return who === undefined ? [] : [`it lets ${who} control this host`];
  });
  const servers = granted(descriptor, SERVE)
    .filter((sid) => describeTrustee(sid) === undefined && !isPrivileged(sid))
    .map(
      (sid) =>
        `it lets ${sid} serve the pipes, so clients in containers refuse them; use 0x12019b to read and write`,
    );
  const named = [descriptor.group, ...(descriptor.entries ?? []).map(({ sid }) => sid)];
  const unknown = [...new Set(named)]
    .filter(isKnownToHostAlone)
    .map((sid) => `only a host of the same domain can resolve ${sid ?? ''}`);
  return { doubts: [...broad, ...servers, ...unknown] };
}

function granted({ entries = [] }: SecurityDescriptor, rights: number): readonly string[] {
  const allowing = entries.filter(
    (entry) => entry.type === 'A' && !entry.flags.includes('IO') && (entry.rights & rights) !== 0,
  );
  return [...new Set(allowing.map(({ sid }) => sid))];
}

function faultOf({ owner, entries, hasAudit }: SecurityDescriptor, sddl: string) {
  if (entries === undefined) return 'it has no access list, so everyone might open the pipes';
  if (/\s/.test(sddl)) return 'it contains white space';
  if (hasAudit) return 'it has an audit part (S:), which pipes do not support';
  if (owner !== undefined && !OWNERS.has(owner))
    return `its owner is ${owner}, which clients do not accept; wanted SY or BA`;
  if (entries.length > MAX_ENTRIES)
    return `it has ${entries.length} entries; wanted at most ${MAX_ENTRIES}`;
  const other = entries.find(({ type }) => type !== 'A' && type !== 'D');
  if (other !== undefined) return `it has an entry of the type ${other.type}; wanted A or D`;
  if (!letsSystemServe(entries))
    return 'it does not let SYSTEM read and write, so the daemon, which runs as SYSTEM, could not serve the pipes';
  return undefined;
}

/**
 * For each right, the first entry that contains it decides.
 * https://learn.microsoft.com/windows/win32/secauthz/how-dacls-control-access-to-an-object
 */
function letsSystemServe(entries: readonly AccessEntry[]): boolean {
  let open = SERVES;
  for (const { type, flags, rights, sid } of entries) {
    if (flags.includes('IO') || !OF_SYSTEM.has(sid)) continue;
    if (type === 'D' && (rights & open) !== 0) return false;
    open &= ~rights;
  }
  return open === 0;
}
