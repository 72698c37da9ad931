export type HeavyParts = typeof import('./heavy-parts.js');

/** Loads the heavy parts, which a static import would bundle into every daemon. */
export function heavyParts(): HeavyParts {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('./wins-features.cjs') as HeavyParts;
}
