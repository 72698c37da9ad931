/**
 * The words of SDDL: rights and accounts.
 * https://learn.microsoft.com/windows/win32/secauthz/ace-strings
 * https://learn.microsoft.com/windows/win32/secauthz/sid-strings
 */
const RIGHTS: ReadonlyMap<string, number> = new Map([
  ['GA', 0x1000_0000],
  ['GR', 0x8000_0000],
  ['GW', 0x4000_0000],
  ['GX', 0x2000_0000],
  ['RC', 0x2_0000],
  ['SD', 0x1_0000],
  ['WD', 0x4_0000],
  ['WO', 0x8_0000],
  ['CC', 0x1],
  ['DC', 0x2],
  ['LC', 0x4],
  ['SW', 0x8],
  ['RP', 0x10],
  ['WP', 0x20],
  ['DT', 0x40],
  ['LO', 0x80],
  ['CR', 0x100],
  ['FA', 0x1f_01ff],
  ['FR', 0x12_0089],
  ['FW', 0x12_0116],
  ['FX', 0x12_00a0],
  ['KA', 0xf_003f],
  ['KR', 0x2_0019],
  ['KW', 0x2_0006],
  ['KX', 0x2_0019],
]);

/** What the generic rights mean for files and pipes. The system stores one or the other. */
const GENERIC: readonly (readonly [generic: number, specific: number])[] = [
  [0x1000_0000, 0x1f_01ff],
  [0x8000_0000, 0x12_0089],
  [0x4000_0000, 0x12_0116],
  [0x2000_0000, 0x12_00a0],
];

const ACCOUNTS: ReadonlyMap<string, string> = new Map([
  ['AA', 'S-1-5-32-579'],
  ['AC', 'S-1-15-2-1'],
  ['AN', 'S-1-5-7'],
  ['AO', 'S-1-5-32-548'],
  ['AS', 'S-1-18-1'],
  ['AU', 'S-1-5-11'],
  ['BA', 'S-1-5-32-544'],
  ['BG', 'S-1-5-32-546'],
  ['BO', 'S-1-5-32-551'],
  ['BU', 'S-1-5-32-545'],
  ['CD', 'S-1-5-32-574'],
  ['CG', 'S-1-3-1'],
  ['CO', 'S-1-3-0'],
  ['CY', 'S-1-5-32-569'],
  ['ED', 'S-1-5-9'],
  ['ER', 'S-1-5-32-573'],
  ['ES', 'S-1-5-32-576'],
  ['HA', 'S-1-5-32-578'],
  ['IS', 'S-1-5-32-568'],
  ['IU', 'S-1-5-4'],
  ['LS', 'S-1-5-19'],
  ['LU', 'S-1-5-32-559'],
  ['MS', 'S-1-5-32-577'],
  ['MU', 'S-1-5-32-558'],
  ['NO', 'S-1-5-32-556'],
  ['NS', 'S-1-5-20'],
  ['NU', 'S-1-5-2'],
  ['OW', 'S-1-3-4'],
  ['PO', 'S-1-5-32-550'],
  ['PS', 'S-1-5-10'],
  ['PU', 'S-1-5-32-547'],
  ['RA', 'S-1-5-32-575'],
  ['RC', 'S-1-5-12'],
  ['RD', 'S-1-5-32-555'],
  ['RE', 'S-1-5-32-552'],
  ['RM', 'S-1-5-32-580'],
  ['RU', 'S-1-5-32-554'],
  ['SO', 'S-1-5-32-549'],
  ['SS', 'S-1-18-2'],
  ['SU', 'S-1-5-6'],
  ['SY', 'S-1-5-18'],
  ['UD', 'S-1-5-84-0-0-0-0-0'],
  ['WD', 'S-1-1-0'],
  ['WR', 'S-1-5-33'],
]);

/** Accounts of a domain or of this machine: only the host knows their SIDs. */
const RELATIVE = /^(?:CA|CN|DA|DC|DD|DG|DU|EA|EK|KA|LA|LG|PA|RO|RS|SA)$/;

/** The access mask that SDDL words or a number mean for a file or pipe, if they mean one. */
export function accessRights(text: string): number | undefined {
  let mask = 0;
  if (/^(?:0x[0-9a-f]{1,8}|\d{1,10})$/i.test(text)) mask = Number(text);
  else
    for (const word of text.match(/..?/g) ?? []) {
      const right = RIGHTS.get(word);
      if (right === undefined) return undefined;
      mask |= right;
    }
  if (mask > 0xffff_ffff) return undefined;
  for (const [generic, specific] of GENERIC)
    if ((mask & generic) !== 0) mask = (mask & ~generic) | specific;
  return mask >>> 0;
}

/** One spelling for each account: its SID when that is the same on every host, else its alias. */
export function canonicalSid(text: string): string | undefined {
  const [, authority, subs] = /^S-1-(\d{1,15})((?:-\d{1,10}){1,15})$/.exec(text) ?? [];
  if (authority !== undefined && subs !== undefined) {
    const isSid =
      Number(authority) < 2 ** 48 &&
      subs
        .slice(1)
        .split('-')
        .every((sub) => Number(sub) < 2 ** 32);
    return isSid ? text : undefined;
  }
  return ACCOUNTS.get(text) ?? (RELATIVE.test(text) ? text : undefined);
}
