/**
 * The parts of Windows that the client needs: a program of its own beside the others, which other systems never read.
 */
export { hearConsole } from '../windows-console.js';
export { windowsPipeCheck } from './windows-pipe-check.js';
