/**
 * What every wins program says the same way: its version, its names, quoted text, durations, exit codes.
 *
 * @packageDocumentation
 */
export { RUN_MARKER_VARIABLE, SERVICE_NAME } from './names.js';
