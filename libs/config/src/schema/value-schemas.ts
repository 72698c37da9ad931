import { isIpv4LinkLocal, networkOf, overlap, parseNetwork } from '@wins/base';
import * as z from 'zod/mini';
import { about, noted, type Notes } from './notation.js';

/** A larger network, such as half of all addresses, would take over the default route. */
const SHORTEST_PREFIX = 8;

/** Forbidden destinations: this host, loopback, multicast, reserved, IPv6 link-local. `::/8` includes the IPv4-mapped addresses. */
const NEVER = ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/3', '::/8', 'fe80::/10', 'ff00::/8'];

/**
 * Whether the config may grant routes into a network, such as `10.42.0.0/16` or one address. Requires a prefix of at least 8
 * bits, no bit set after it, and no overlap with {@link NEVER} or 169.254.0.0/16. Single addresses of 169.254.0.0/16 are allowed,
 * because clouds serve metadata there.
 */
export function isRouteNetwork(text: string): boolean {
  // Refuses an IPv6 address that contains an IPv4 address.
  if (text.includes('.') && text.includes(':')) return false;
  const network = parseNetwork(text);
  if (network === undefined || network.prefix < SHORTEST_PREFIX) return false;
  if (network.prefix < 32 && isIpv4LinkLocal(network)) return false;
  if (Buffer.compare(network.bytes, networkOf(network).bytes) !== 0) return false;
  // Parsed here, because the first IPv6 address takes Node 8 ms, and most configs have none.
  const never = NEVER.flatMap((forbidden) => parseNetwork(forbidden) ?? []);
  return !never.some((one) => overlap(network, one));
}

/** Whether a refused network overlaps the IPv4 link-local addresses. False for a prefix below 8, because such a network is refused for its size. */
function isLinkLocalNetwork(text: string): boolean {
  const network = parseNetwork(text);
  return network !== undefined && network.prefix >= SHORTEST_PREFIX && isIpv4LinkLocal(network);
}

// Excludes control characters, line separators and lone surrogates, which no name or path contains.
const PRINTABLE = z.regex(/^[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u);
const PRINTABLE_NOT_BLANK = z.regex(/^(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u);
const DIGEST = z.regex(/^[0-9a-fA-F]{64}$/);
const LOWER_CASE = z.toLowerCase();
const WHOLE = z.int();

export const flag = () => z.boolean({ error: 'true or false' });

export const required = <Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
  notes?: Notes,
) => about(schema, description, { ...notes, absent: 'required' });

/** A key that may be absent. The type of its section excludes undefined. */
export const optional = <Schema extends z.ZodMiniType>(
  schema: Schema,
  description: string,
  notes?: Notes,
) => z.exactOptional(about(schema, description, notes));

/** A key that has a value, as a file would have it, when it is absent. `{}` gives a section the defaults of its keys. */
export const withDefault = <Schema extends z.ZodMiniType>(
  schema: Schema,
  value: z.input<Schema>,
  description: string,
  notes?: Notes,
) => z.prefault(about(schema, description, notes), value);

export const off = (description: string) => withDefault(flag(), false, description);

/** A check without an error of its own reports `error`. Checks may be shared; `check` of zod would copy the schema. */
export const textWith = (error: string, ...checks: z.core.$ZodCheck<string>[]) =>
  z.string({ error, checks });

export const checked = (isFit: (text: string) => boolean, error: string) =>
  textWith(error, z.refine(isFit));

export const matching = (pattern: RegExp, error: string) => textWith(error, z.regex(pattern));

export const text = () => textWith('text without control characters', PRINTABLE);

export const someText = (what: string) =>
  textWith(`${what}, not blank and without control characters`, PRINTABLE_NOT_BLANK);

export const sha256 = () =>
  textWith('a SHA-256 digest of 64 hexadecimal digits', DIGEST, LOWER_CASE);

export const sha256List = () =>
  shown(
    list(sha256(), 'SHA-256 digests').check(
      z.minLength(1, { error: 'at least one SHA-256 digest' }),
    ),
  );

/** Marks a text, or a list of texts, as harmless, so that a support bundle shows it unmasked. */
export const shown = <Schema extends z.ZodMiniType>(schema: Schema) =>
  noted(schema, { shown: 'all' });

export function port() {
  const error = 'a port number from 1 to 65535';
  return wholeNumber(1, 65_535, error);
}

export function count(what: string, most: number, least = 1) {
  const error = `${what}, a whole number from ${least} to ${most}`;
  return wholeNumber(least, most, error);
}

function wholeNumber(least: number, most: number, error: string) {
  return z.number({ error, checks: [WHOLE, z.gte(least), z.lte(most)] });
}

export function routeNetwork() {
  const error =
    'a network such as 10.42.0.0/16, of /8 or smaller, no bit set below its prefix, and no part of it loopback, link-local, multicast or reserved';
  const linkLocal = 'link-local addresses one by one, each with /32 or without a prefix';
  const isFit = z.refine<string>(isRouteNetwork, {
    error: ({ input }) => (isLinkLocalNetwork(String(input)) ? linkLocal : error),
  });
  return textWith(error, isFit);
}

export function list<Item extends z.ZodMiniType>(item: Item, what: string) {
  return z.array(item, { error: `a list of ${what}` });
}

export function section<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.strictObject(shape, { error: 'a section (key: value pairs)' });
}

const VARIABLE_NAME = /^(?=.*\S)[^=*\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+$/u;
const VARIABLE_VALUE = /^[^\0\p{Cs}]{0,32767}$/u;

export function variables() {
  return z.record(
    matching(VARIABLE_NAME, 'the name of an environment variable'),
    matching(VARIABLE_VALUE, 'text of at most 32,767 characters, without NUL'),
    { error: 'a section (NAME: value pairs)' },
  );
}
