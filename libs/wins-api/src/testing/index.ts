/**
 * Aids for tests of a daemon: the octets of recorded Go clients and daemons, and a reader of a server's answers.
 *
 * @module
 */
export { AnswerReader, messagesOf } from './answer-reader.js';
export type { Answer } from './answer-reader.js';
export { recordedClient, recordedDaemon } from './recorded-client.js';
export type { RecordedCommand } from './recorded-client.js';
export { RecordedDaemon } from './recorded-daemon.js';
