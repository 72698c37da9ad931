/**
 * What specs and demonstrations put in the place of the ports: real processes instead of a service manager, a table instead of a server.
 *
 * @packageDocumentation
 */
export { archiveOf, type ArchiveEntry } from './archive-of.js';
export { memoryDownload } from './memory-download.js';
export { quickClock } from './quick-clock.js';
export { StandInService } from './stand-in-service.js';
export { stubProgram, type StubBehaviour } from './stub-program.js';
