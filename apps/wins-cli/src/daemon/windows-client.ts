/** Windows-specific part of the client; a separate bundle that other systems never load. */
export { hearConsole } from '../windows-console.js';
export { windowsPipeCheck } from './windows-pipe-check.js';
