import type { ServiceDefinition, ServiceStartType } from '../services/service-config.js';
import { serviceControlManager } from '../services/service-control-manager.js';
import { inPromise } from '../win32/calls/call.js';
import { unlessFails, WindowsError } from '../windows-error.js';
import { refused, presence, type NodeStore, type Presence } from './node-store.js';

/** How a service is registered. */
export interface NodeServiceState {
  /** Command line, as the system stores it. */
  readonly command: string;
  readonly startType: ServiceStartType;
}

/** Properties of a new service that `NodeServiceState` lacks: display texts, and the reaction to a failure. */
export type NodeServiceManners = Omit<
  ServiceDefinition,
  'name' | 'command' | 'commandLine' | 'startType'
>;

const GONE = { timeoutMs: 10_000 };
const STOP = { timeoutMs: 60_000 };

/** Changes only the command and the start type of an existing service. Stops a service before its removal. */
export function nodeServices(
  manners: NodeServiceManners,
): NodeStore<{ readonly name: string }, NodeServiceState> {
  const services = serviceControlManager();
  return {
    read: ({ name }) => {
      const config = unlessAbsent(() => services.config(name));
      const { commandLine, startType } = config ?? {};
      const isThere = commandLine !== undefined && startType !== undefined;
      return Promise.resolve(isThere ? { command: commandLine, startType } : undefined);
    },
    write: async ({ name }, state) => {
      if (state === undefined) {
        if (unlessAbsent(() => services.status(name)) === undefined) return;
        await services.stop(name, STOP);
        services.remove(name);
        if (await services.gone(name, GONE)) return;
        const found = 'another program holds it open';
        throw new WindowsError('busy', `cannot remove the service ${name}: ${found}`);
      }
      const { command, startType } = state;
      if (unlessAbsent(() => services.status(name)) === undefined) {
        services.register({ ...manners, name, startType, command: [], commandLine: command });
      } else services.change(name, { commandLine: command, startType });
    },
  };
}

/**
 * Dependencies of a service: other services that must start before it. Adding or removing a dependency does not affect
 * the service's other dependencies, including those on service groups.
 */
export function nodeDependencies(): NodeStore<
  { readonly service: string; readonly on: string },
  Presence
> {
  const services = serviceControlManager();
  const of = (service: string): readonly string[] | undefined =>
    unlessAbsent(() => services.config(service))?.dependencies;
  const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
  return {
    read: ({ service, on }) => presence(of(service)?.some((each) => isSame(each, on)) === true),
    write: ({ service, on }, state) =>
      inPromise(() => {
        const all = of(service);
        if (all === undefined) {
          if (state === undefined) return;
          throw refused(`cannot make the service ${service} depend on ${on}`, 'no such service');
        }
        const others = all.filter((each) => !isSame(each, on));
        services.change(service, { dependencies: state === undefined ? others : [...others, on] });
      }),
  };
}

export function nodeRunning(): NodeStore<{ readonly service: string }, Presence> {
  const services = serviceControlManager();
  return {
    read: ({ service }) => {
      const state = unlessAbsent(() => services.status(service))?.state;
      return presence(state !== undefined && state !== 'stopped');
    },
    write: async ({ service }, state) => {
      const found = unlessAbsent(() => services.status(service))?.state;
      // The service manager treats a stopping service as running: before a start, wait until it has stopped.
      const mustStop = state === undefined ? found !== undefined : found === 'stopPending';
      if (mustStop) await services.stop(service, STOP);
      if (state !== undefined) await services.start(service);
    },
  };
}

function unlessAbsent<T>(action: () => T): T | undefined {
  return unlessFails(action, 'notFound');
}
