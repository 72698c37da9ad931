/** Message keys with acronyms in capitals. */
const ACRONYMS = {
  AddressCIDR: 'addressCidr',
  ChecksumSHA256: 'checksumSha256',
  DestinationCIDR: 'destinationCidr',
  DigestSHA256: 'digestSha256',
  ID: 'id',
  ManagementIP: 'managementIp',
  PID: 'pid',
  RunID: 'runId',
  SHA256: 'sha256',
  StrictTLS: 'strictTls',
  SubnetCIDR: 'subnetCidr',
  UBR: 'ubr',
} as const;

type Acronyms = typeof ACRONYMS;
type CamelCaseKey<Key extends string> = Key extends keyof Acronyms
  ? Acronyms[Key]
  : Uncapitalize<Key>;

/** A wire message with camelCase keys, and with numbers for 64-bit integers. */
export type CamelCaseKeys<Value> = Value extends bigint
  ? number
  : Value extends readonly (infer Item)[]
    ? readonly CamelCaseKeys<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value as CamelCaseKey<Key & string>]: CamelCaseKeys<Value[Key]> }
      : Value;

/**
 * Returns a copy of `value` with camelCase keys, and with numbers for 64-bit integers. `value` must not contain byte arrays.
 * No integer in `value` may exceed 2^53.
 */
export function camelCaseKeys<Value>(value: Value): CamelCaseKeys<Value>;
export function camelCaseKeys(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map((item) => camelCaseKeys<unknown>(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [camelCaseKey(key), camelCaseKeys<unknown>(item)]),
  );
}

function camelCaseKey(key: string): string {
  if (Object.hasOwn(ACRONYMS, key)) return ACRONYMS[key as keyof Acronyms];
  return key.charAt(0).toLowerCase() + key.slice(1);
}
