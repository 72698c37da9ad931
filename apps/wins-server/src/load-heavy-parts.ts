export type HeavyParts = typeof import('./heavy-parts.js');

/** Loads the bundle of heavy parts. A static import would put them into the main bundle, which every daemon loads. */
export function heavyParts(): HeavyParts {
  // oxlint-disable-next-line typescript/no-require-imports
  return require('./wins-features.cjs') as HeavyParts;
}
