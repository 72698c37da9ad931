/** New values by key path, for `editConfig` of `@wins/config`. Null removes a key. */
export type ConfigChanges = Readonly<
  Record<string, string | number | boolean | readonly string[] | null>
>;
