export type HeavyParts = typeof import('./heavy-parts.js');

/** Loads the bundle of heavy parts beside this file; a static import would make it part of each daemon. */
export function heavyParts(): HeavyParts {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('./wins-features.cjs') as HeavyParts;
}
