/**
 * Contract tests for any listener and connector of pipes.
 *
 * @packageDocumentation
 */
export { pipeContract, type PipeContractSubject } from './pipe-contract.js';
