/**
 * What a Node process can tell about itself: where its thread is, its report, its heap, its processor, its trace and its handles.
 *
 * Owns how each is taken, what it may cost, and what of it is never told. Does not know who asks, or where the answer goes.
 *
 * @example
 * ```ts
 * const diagnostics = createDiagnostics();
 * console.log(await diagnostics.stacks({ seconds: 1 }));
 * for await (const piece of diagnostics.cpu({ seconds: 10 })) file.write(piece);
 * ```
 *
 * @packageDocumentation
 */
export type { ActiveHandles } from './active-handles.js';
export { createDiagnostics, type Diagnostics, type Pieces } from './create-diagnostics.js';
export { DiagnosticsError, type DiagnosticsErrorCode } from './diagnostics-error.js';
export { startLongProfile, type LongProfile, type LongProfileKind } from './long-profile.js';
export type { RecordOptions } from './wait-for.js';
