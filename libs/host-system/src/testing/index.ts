/** For the specs of host systems: the contract that all of them pass. */
export { hostSystemContract, type HostSystemSubject } from './host-system-contract.js';
