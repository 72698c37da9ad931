// Loaded when a command line is read: what prints its version does without.
export { completeWords, runCommandLine } from '@wins/command-line';
