/** `T` with each member optional. An `undefined` member is the same as an absent one. */
export type Optional<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** `T` with each default filled in: no member is optional or `undefined`. */
export type Complete<T> = { readonly [Key in keyof T]-?: Exclude<T[Key], undefined> };

/** Returns `given`, with the value of `defaults` for each member that is absent or `undefined`. */
export function withDefaults<T extends object>(defaults: T, given: Optional<NoInfer<T>> = {}): T {
  const isGiven = ([, value]: readonly [string, unknown]) => value !== undefined;
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(isGiven)) };
}
