import appInfo from '../fixtures/go-wins-0.1.1-app-info.json';
import hnsGetNetwork from '../fixtures/go-wins-0.1.1-hns-get-network-error.json';
import hostGetVersion from '../fixtures/go-wins-0.1.1-host-get-version.json';
import networkGet from '../fixtures/go-wins-0.1.1-network-get.json';
import processRunDenied from '../fixtures/go-wins-0.1.1-prc-run-denied.json';
import processRun from '../fixtures/go-wins-0.1.1-prc-run.json';
import routeAdd from '../fixtures/go-wins-0.1.1-route-add.json';

const RECORDINGS = {
  'app-info': appInfo,
  'hns-get-network-error': hnsGetNetwork,
  'host-get-version': hostGetVersion,
  'network-get': networkGet,
  'prc-run': processRun,
  'prc-run-denied': processRunDenied,
  'route-add': routeAdd,
};

/** A command of the Go client that was recorded. */
export type RecordedCommand = keyof typeof RECORDINGS;

// Pings and their answers concern the two that talked then: a peer ends the connection over an answer to no ping.
const PING = /00000806(?:00|01)00000000.{16}/g;

/** Bytes that the Go client of release 0.1.1 sent for a command: HTTP/2 from its preface on. */
export function recordedClient(command: RecordedCommand): Buffer {
  return half(command, 'client');
}

/** Bytes that the Go daemon of that release answered: HTTP/2 from its settings on. */
export function recordedDaemon(command: RecordedCommand): Buffer {
  return half(command, 'server');
}

function half(command: RecordedCommand, side: 'client' | 'server'): Buffer {
  const entries = RECORDINGS[command].filter(({ from }) => from === side);
  const hex = entries.map((entry) => entry.hex).join('');
  return Buffer.from(hex.replaceAll(PING, ''), 'hex');
}
