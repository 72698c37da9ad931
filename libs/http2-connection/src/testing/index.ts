/**
 * Aids for tests of a server: a client that sends whatever frames a test wants, and a server that echoes calls.
 *
 * @module
 */
export { FrameClient, grpcMessage, type ReceivedFrame } from './frame-client.js';
export { CountingPool, echo, FrameServer, type FrameServerOptions } from './frame-server.js';
export { FLAG, FRAME, frame, frameOfNumbers, PREFACE, SETTING, settingsFrame } from '../frame.js';
