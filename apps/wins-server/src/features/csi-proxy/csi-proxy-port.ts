import type { ServiceCommand } from './decide/install-record.js';

/** The service as its manager tells of it. */
export interface ServiceFacts {
  /** Its program by its absolute path, and its arguments; undefined when the words name no program. */
  readonly command: ServiceCommand | undefined;
  /** Whether it runs, or is on its way to. */
  readonly isRunning: boolean;
  /** Whether its manager starts it for no one. */
  readonly isDisabled: boolean;
}

/**
 * The service manager, for the one service of csi-proxy. What it throws becomes the cause of a FeatureError `serviceFailed`.
 *
 * Nothing in it decides.
 */
export interface CsiProxyService {
  /** What the service is called, in messages. */
  readonly name: string;
  /** The service; undefined when there is none. */
  query(): Promise<ServiceFacts | undefined>;
  /** Registers the service: started with the system, in the name of the system. It must not exist. */
  create(command: ServiceCommand): Promise<void>;
  /** Changes what the service runs, as one durable act. What runs already goes on. */
  setCommand(command: ServiceCommand): Promise<void>;
  /** Starts it, and resolves once its process exists. Running already is no error. */
  start(): Promise<void>;
  /**
   * Stops it, from any state, and resolves when its process is gone. csi-proxy reports that it has stopped and lives on: what does not end
   * within `graceMs` is ended by its handle. Stopped already is no error.
   */
  stop(graceMs: number): Promise<void>;
  /** Ends what still runs this program: a csi-proxy that outlived an earlier stop keeps the pipes. */
  endLeftovers(program: string): Promise<void>;
  /** Removes the registration of a stopped service. None is no error. */
  remove(): Promise<void>;
  /** Whether the pipe `csi-proxy-filesystem-v1` is served by any process. */
  isServing(): Promise<boolean>;
}
