// Beside this file once everything is bundled; an import would make it part of this one, and each daemon would hold it.
/* eslint-disable @typescript-eslint/no-require-imports */

/** Loads what packs a bundle for support, which no daemon needs. */
export function loadPacker() {
  return require('./wins-support.cjs') as typeof import('./start-packing.js');
}
