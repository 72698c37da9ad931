/**
 * The second door: what a `FileTrust` must do, to be run against that of any system.
 *
 * @packageDocumentation
 */
export { fileTrustContract, type FileTrustSubject } from './file-trust-contract.js';
