/**
 * The calls that have one answer, on a transport that the program brings: nothing of grpc-js is loaded.
 *
 * @module
 */
export { createUnaryClient } from './unary/create-unary-client.js';
export { createInfoClient } from './unary/create-info-client.js';
export type { InfoClient } from './unary/create-info-client.js';
export type { UnaryClientOptions } from './unary/transport-calls.js';
export type { UnaryClient } from './wins-client.js';
export type { UnaryOutcome, UnaryRequest, UnaryTransport } from './unary/unary-transport.js';
export { WinsClientError } from './client-error.js';
export { WINS_CLIENT_WINDOW_BYTES } from './client-window.js';
export { RunExposeProtocol } from './gen/process.js';
