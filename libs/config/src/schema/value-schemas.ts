/**
 * What single values of the file may be, with the words for what was expected.
 */
import * as z from 'zod';
import type { Notation } from './notation.js';
import { isLinkLocalNetwork, isRouteNetwork } from './route-network.js';

// Control characters (C0, DEL, C1), line separators and lone surrogates: no name or path has them.
const PRINTABLE = /^[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u;
const PRINTABLE_NOT_BLANK = /^(?=.*\S)[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}]*$/u;

/** A boolean. */
export const flag = () => z.boolean({ error: 'true or false' });

/** A text of some pattern. */
export const matching = (pattern: RegExp, expected: string) =>
  z.string({ error: expected }).regex(pattern, { error: expected });

/** A printable text, possibly empty. */
export const text = () => matching(PRINTABLE, 'text without control characters');

/** A printable text that says something. */
export const someText = (what: string) =>
  matching(PRINTABLE_NOT_BLANK, `${what}, not blank and without control characters`);

/** Texts, or a list of them, that those who help may see. */
export const shown = <Schema extends z.ZodType>(schema: Schema) =>
  schema.meta({ shown: 'all' } satisfies Notation);

/** A TCP port. */
export function port() {
  const error = 'a port number from 1 to 65535';
  return z.int({ error }).min(1, { error }).max(65535, { error });
}

/** A whole number within bounds. */
export function count(what: string, most: number, least = 1) {
  const error = `${what}, a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

/** A network into which routes may be granted. */
export function routeNetwork() {
  const error =
    'a network such as 10.42.0.0/16, of /8 or smaller, no bit set below its prefix, and no part of it loopback, link-local, multicast or reserved';
  const linkLocal = 'link-local addresses one by one, each with /32 or without a prefix';
  return z.string({ error }).refine(isRouteNetwork, {
    error: ({ input }) => (isLinkLocalNetwork(String(input)) ? linkLocal : error),
  });
}

/** A list. */
export function list<Item extends z.ZodType>(item: Item, what: string) {
  return z.array(item, { error: `a list of ${what}` });
}

/** A section: keys that are known, and no others. */
export function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, { error: 'a section (key: value pairs)' });
}
