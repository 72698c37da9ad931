/**
 * Helpers for specs: a node inside a folder, and the checks that every `ItemStore` must pass.
 *
 * @packageDocumentation
 */
export { FolderNode, type FolderNodeOptions } from './folder-node.js';
export type { FolderService, FolderSystem, ServiceRunner } from './posix-system.js';
export { PosixNode, type PosixNodeOptions } from './posix-node.js';
export { storeContract, type StoreSubject } from './store-contract.js';
