/**
 * Doubles for specs and demonstrations: a program that behaves like csi-proxy, its archive, a table instead of a server.
 *
 * @packageDocumentation
 */
export { archiveOf, type ArchiveEntry } from './archive-of.js';
export { memoryDownload } from './memory-download.js';
export { quickClock } from './quick-clock.js';
export { stubProgram, type StubBehaviour } from './stub-program.js';
