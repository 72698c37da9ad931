type Check = (value: unknown) => boolean;

/** Ignores other fields, which a later release may add. */
export function hasFields<T extends object>(fields: { readonly [K in keyof T]?: Check }) {
  const checks = Object.entries<Check | undefined>(fields);
  return (value: unknown): value is T =>
    typeof value === 'object' &&
    value !== null &&
    checks.every(([name, check]) => check?.((value as Record<string, unknown>)[name]));
}

export const isText: Check = (value) => typeof value === 'string';

export const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
