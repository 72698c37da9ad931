/**
 * The parts of Windows that the client needs; other systems never load them.
 */
export { hearConsole } from '../windows-console.js';
export { windowsPipeCheck } from './windows-pipe-check.js';
