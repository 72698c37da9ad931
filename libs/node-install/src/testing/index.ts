/**
 * The second door, for specs: a node with all its ports, and the contract of every room of a node.
 *
 * @packageDocumentation
 */
export { PosixNode, type PosixNodeOptions } from './posix-node.js';
export { roomContract, type RoomSubject } from './room-contract.js';
