import { inPromise } from '../win32/calls/call.js';
import * as sources from '../event-log/event-log.js';
import { machinePath } from './machine-path.js';
import { nodeFiles, nodeFolders, strangersIn } from './node-files.js';
import { presence, type NodeStore, type Presence } from './node-store.js';
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
 * Gives access to the parts of a Windows node that an installation creates and removes. Each object in `stores` reads and
 * writes the parts of one kind, such as files, and keeps nothing open between calls. No error contains the value of an
 * environment variable.
 *
 * @param manners - Properties of a new service besides its command line and its start type.
 */
export function windowsNode(manners: NodeServiceManners) {
  return {
    stores: {
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

function eventSources(): NodeStore<{ readonly name: string }, Presence> {
  return {
    read: ({ name }) => presence(sources.isEventSource(name)),
    write: ({ name }, state) => {
      const { registerEventSource, unregisterEventSource } = sources;
      return inPromise(() => (state ? registerEventSource : unregisterEventSource)(name));
    },
  };
}
