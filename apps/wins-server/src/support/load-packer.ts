// Loaded when it is called; an import would make each daemon hold what it is made of.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what packs a bundle for support, which no daemon needs. */
export function loadPacker() {
  return require('./start-packing.js') as typeof import('./start-packing.js');
}
