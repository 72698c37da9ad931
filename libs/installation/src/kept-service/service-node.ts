import type { ItemHost } from '../ports.js';
import type { Item } from '../item/item.js';

/** A service that serves a pipe. */
export interface KeptServiceKind {
  readonly item: Item<'service'>;
  /** Names the service in messages. */
  readonly subject: string;
  /** Name of the pipe that proves the service, in messages. */
  readonly pipe: string;
  /** File name of the program, in a folder of its own for each release. */
  readonly programName: string;
  /** File name of the service's log, in messages. */
  readonly log: string;
  /** Returns the path of the program in a command line of a service, if the line names one. */
  readonly programOf: (command: string) => string | undefined;
  readonly commandOf: (program: string, args: readonly string[]) => string;
}

/** The parts of a node that a kept service consists of. */
export interface ServiceNode extends Pick<ItemHost, 'platform' | 'stores' | 'strangersIn'> {
  /** True when any process serves the pipe. */
  isServing(): Promise<boolean>;
  /** Ends processes that still run this program, because a process that outlives its service keeps the pipe. */
  endLeftovers(program: string): Promise<void>;
  /** Path of the program of another installer. A service that runs it is adopted. */
  readonly adoptedProgram: string;
}

export const runningOf = ({ item }: KeptServiceKind) =>
  ({ kind: 'running', service: item.name }) as const;
