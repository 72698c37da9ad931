/**
 * Helpers for specs: a node in a folder, with all its ports, and the contract of every `Room`.
 *
 * @packageDocumentation
 */
export { FolderNode, type FolderNodeOptions } from './folder-node.js';
export type { FolderService, FolderSystem, ServiceRunner } from './posix-system.js';
export { PosixNode, type PosixNodeOptions } from './posix-node.js';
export { roomContract, type RoomSubject } from './room-contract.js';
