/**
 * Contract tests for the `FileTrust` of any system.
 *
 * @packageDocumentation
 */
export { fileTrustContract, type FileTrustSubject } from './file-trust-contract.js';
