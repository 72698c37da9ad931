/**
 * Keywords of SDDL: rights and accounts.
 * https://learn.microsoft.com/windows/win32/secauthz/ace-strings
 * https://learn.microsoft.com/windows/win32/secauthz/sid-strings
 */
const RIGHTS = new Map(
  pairsOf(
    'GA 0x10000000 GR 0x80000000 GW 0x40000000 GX 0x20000000 RC 0x20000 SD 0x10000 WD 0x40000 ' +
      'WO 0x80000 CC 0x1 DC 0x2 LC 0x4 SW 0x8 RP 0x10 WP 0x20 DT 0x40 LO 0x80 CR 0x100 FA 0x1f01ff ' +
      'FR 0x120089 FW 0x120116 FX 0x1200a0 KA 0xf003f KR 0x20019 KW 0x20006 KX 0x20019',
  ).map(([word, mask]) => [word, Number(mask)]),
);

/** Generic rights and their meaning for files and pipes. The system may store either form of a right. */
const GENERIC: readonly (readonly [generic: number, specific: number])[] = [
  [0x1000_0000, 0x1f_01ff],
  [0x8000_0000, 0x12_0089],
  [0x4000_0000, 0x12_0116],
  [0x2000_0000, 0x12_00a0],
];

const ACCOUNTS = new Map(
  pairsOf(
    'AA 5-32-579 AC 15-2-1 AN 5-7 AO 5-32-548 AS 18-1 AU 5-11 BA 5-32-544 BG 5-32-546 BO 5-32-551 ' +
      'BU 5-32-545 CD 5-32-574 CG 3-1 CO 3-0 CY 5-32-569 ED 5-9 ER 5-32-573 ES 5-32-576 HA 5-32-578 ' +
      'IS 5-32-568 IU 5-4 LS 5-19 LU 5-32-559 MS 5-32-577 MU 5-32-558 NO 5-32-556 NS 5-20 NU 5-2 ' +
      'OW 3-4 PO 5-32-550 PS 5-10 PU 5-32-547 RA 5-32-575 RC 5-12 RD 5-32-555 RE 5-32-552 ' +
      'RM 5-32-580 RU 5-32-554 SO 5-32-549 SS 18-2 SU 5-6 SY 5-18 UD 5-84-0-0-0-0-0 WD 1-0 WR 5-33',
  ).map(([alias, rest]) => [alias, `S-1-${rest}`]),
);

/** Aliases of domain or machine accounts. Only the host knows their SIDs. */
const RELATIVE = /^(?:CA|CN|DA|DC|DD|DG|DU|EA|EK|KA|LA|LG|PA|RO|RS|SA)$/;

/** Parses an access mask (a number or SDDL keywords) for a file or pipe. Undefined for other text. */
export function accessRights(text: string): number | undefined {
  let mask = 0;
  if (/^(?:0x[0-9a-f]{1,8}|0|[1-9]\d{0,9})$/i.test(text)) mask = Number(text);
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

/** Replaces an alias by its SID if that SID is the same on every host. Keeps other aliases. Undefined for invalid text. */
export function canonicalSid(text: string): string | undefined {
  // The system drops leading zeros, so an account would differ from the one that is read back.
  const [, authority, subs] =
    /^S-1-(0|[1-9]\d{0,14})((?:-(?:0|[1-9]\d{0,9})){1,15})$/.exec(text) ?? [];
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

function pairsOf(text: string): [string, string][] {
  return [...text.matchAll(/(\S+) (\S+)/g)].map(([, first = '', second = '']) => [first, second]);
}
