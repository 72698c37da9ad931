/**
 * The second door of the pipe transport: what a listener and a connector must do, to be run against any.
 *
 * @packageDocumentation
 */
export { pipeContract, type PipeContractSubject } from './pipe-contract.js';
