// Loaded when a command line is read: what prints its version does without.
export { runCommandLine } from './command-line/run-command-line.js';
