/** Each loads one feature. */
export type Features = typeof import('./features.js');

/** Loads the program of features: beside this file once everything is bundled, where an import would make it part of each daemon. */
export function features(): Features {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  return require('./wins-features.cjs') as Features;
}
