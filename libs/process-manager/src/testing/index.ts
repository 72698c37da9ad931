/**
 * Aids for tests that run real programs through a process manager.
 *
 * @example
 * const directory = createPrivateDirectory();
 * const program = writeTestProgram(directory.path, 'hello', 'console.log("hello")');
 */
export { createPrivateDirectory, type PrivateDirectory } from './private-directory.js';
export { digestsOf, writeTestProgram, type TestProgram } from './test-program.js';
export { processHostContract, type ProcessHostSubject } from './process-host-contract.js';
