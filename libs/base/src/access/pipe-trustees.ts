/** SYSTEM, administrators, and the owner of an object. */
const TRUSTED: ReadonlySet<string> = new Set(
  'S-1-5-18 S-1-5-32-544 S-1-3-0 S-1-3-1 S-1-3-4 LA DA EA'.split(' '),
);

/** Descriptions of groups to which operators often give access by mistake. Key: SID or alias. */
const GROUPS: ReadonlyMap<string, string> = new Map([
  ['S-1-1-0', 'everyone'],
  ['S-1-5-2', 'everyone on the network'],
  ['S-1-5-4', 'everyone at the console'],
  ['S-1-5-6', 'every service'],
  ['S-1-5-7', 'anonymous users'],
  ['S-1-5-11', 'every authenticated user'],
  ['S-1-5-19', 'every service without privileges (LOCAL SERVICE)'],
  ['S-1-5-20', 'every service without privileges (NETWORK SERVICE)'],
  ['S-1-5-32-545', 'every user of the host'],
  ['S-1-5-32-546', 'guests'],
  ['S-1-5-80-0', 'every service'],
  ['S-1-5-93-2-2', 'every user of a container'],
  ['S-1-15-2-1', 'every app'],
  ['LG', 'guests'],
  ['DU', 'every user of the domain'],
  ['DG', 'guests of the domain'],
]);

/**
 * Also trusted: administrators (500, 512, 519), accounts and groups that administrators created (RIDs from 1000), services, IIS application
 * pools, logon sessions.
 */
const SINGLE =
  /^S-1-5-(?:21-\d+-\d+-\d+-(?:500|512|519|[1-9]\d{3,})|(?:80|82)(?:-\d+){5}|5-\d+-\d+)$/;
const ENTRA_ID = /^S-1-12-1(?:-\d+){4}$/;

/**
 * Describes an account or group that should not control a host. Returns undefined for a trusted SID, such as SYSTEM, an administrator,
 * one particular service or one user account. Unknown SIDs are not trusted.
 */
export function describeTrustee(sid: string): string | undefined {
  if (TRUSTED.has(sid) || SINGLE.test(sid) || ENTRA_ID.test(sid)) return undefined;
  const group = GROUPS.get(sid);
  return group === undefined
    ? `${sid}, which is no administrator, service or single account,`
    : `${group} (${sid})`;
}

export function isPrivileged(sid: string): boolean {
  return sid === 'S-1-5-18' || sid === 'S-1-5-32-544' || sid === 'LA' || sid.startsWith('S-1-3-');
}

/** Whether a SID is an alias of the host's domain, such as `DA`. Hosts outside that domain cannot resolve it to the same account. */
export function isKnownToHostAlone(sid: string | undefined): boolean {
  return sid !== undefined && !sid.startsWith('S-') && sid !== 'LA' && sid !== 'LG';
}
