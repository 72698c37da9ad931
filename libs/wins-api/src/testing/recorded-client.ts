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

export type RecordedCommand = keyof typeof RECORDINGS;

// Drop recorded pings: a peer ends the connection when it gets the answer to a ping that it did not send.
const PING = /00000806(?:00|01)00000000.{16}/g;

/** Returns the bytes that the Go client of release 0.1.1 sent, from the HTTP/2 preface on. */
export function recordedClient(command: RecordedCommand): Buffer {
  return half(command, 'client');
}

/** Returns the bytes that the Go daemon of release 0.1.1 answered, from its HTTP/2 settings on. */
export function recordedDaemon(command: RecordedCommand): Buffer {
  return half(command, 'server');
}

function half(command: RecordedCommand, side: 'client' | 'server'): Buffer {
  const entries = RECORDINGS[command].filter(({ from }) => from === side);
  const hex = entries.map((entry) => entry.hex).join('');
  return Buffer.from(hex.replaceAll(PING, ''), 'hex');
}
