/**
 * The second door: a node of POSIX in the place of one of Windows, and what every room of a node must do.
 *
 * @packageDocumentation
 */
export { PosixNode, type StandInOptions } from './posix-node.js';
export type { ServiceRunner, StandInService, StandInSystem } from './posix-system.js';
export { roomContract, type RoomSubject } from './room-contract.js';
