export type HeavyParts = typeof import('./heavy-parts.js');

/** Loads the program of heavy parts: beside this file once everything is bundled, where an import would make it part of each daemon. */
export function heavyParts(): HeavyParts {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('./wins-features.cjs') as HeavyParts;
}
