/**
 * What makes a node a wins node, and unmakes it.
 *
 * It owns: what an installation is to be (from Rancher's variables), the plan by which a node becomes that, the steps and their
 * journal, the manifest, and taking all of it away again. It does not own: how a program or connection info is fetched, nor how a
 * system is asked and changed, which are ports.
 *
 * @module
 */
export { InstallError, type InstallErrorCode } from './install-error.js';
