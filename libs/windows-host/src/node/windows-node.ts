import {
  isEventSource,
  registerEventSource,
  unregisterEventSource,
} from '../event-log/event-log.js';
import { machinePath } from './machine-path.js';
import { nodeFiles, nodeFolders, strangersIn } from './node-files.js';
import { presence, settled, type NodeRoom, type Presence } from './node-room.js';
import {
  nodeDependencies,
  nodeRunning,
  nodeServices,
  type NodeServiceManners,
} from './node-services.js';
import { rootCertificates } from './root-certificates.js';
import { serviceEnvironment, isBeingRemoved } from './service-environment.js';
import { winHttpProxy } from './win-http-proxy.js';

/**
 * What of a Windows node an installation makes and takes away: a room for each kind of thing. A room holds nothing open between calls.
 * What it throws is a WindowsError or an error of files; no value of a variable is in it.
 *
 * @param manners - What a service that is made has beside its command line and its start.
 */
export function windowsNode(manners: NodeServiceManners) {
  return {
    rooms: {
      folder: nodeFolders(),
      file: nodeFiles(),
      pathElement: machinePath(),
      certificate: rootCertificates(),
      winHttpProxy: winHttpProxy(),
      eventSource: eventSources(),
      service: nodeServices(manners),
      variable: serviceEnvironment(),
      dependency: nodeDependencies(),
      running: nodeRunning(),
    },
    strangersIn: (folder: string): Promise<readonly string[]> => strangersIn(folder),
    isBeingRemoved: (service: string): Promise<boolean> => Promise.resolve(isBeingRemoved(service)),
  };
}

function eventSources(): NodeRoom<{ readonly name: string }, Presence> {
  return {
    read: ({ name }) => presence(isEventSource(name)),
    write: ({ name }, state) =>
      settled(() =>
        state === undefined ? unregisterEventSource(name) : registerEventSource(name),
      ),
  };
}
