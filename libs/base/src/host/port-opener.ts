/** A port that a program serves. On hosts with a {@link PortOpener} it is open while the program runs. */
export interface ExposedPort {
  readonly protocol: 'tcp' | 'udp';
  /** 1 to 65535. */
  readonly port: number;
}

/** Opens the ports of a run where a firewall would block them. */
export interface PortOpener {
  /**
   * Returns the reason why all ports are already reachable, such as "the firewall is off"; the run then starts without opening any.
   * Undefined when ports must be opened. Called once per start, before its decision is recorded. Absent: ports must always be opened.
   */
  whyNotNeeded?(): string | undefined;
  /**
   * Opens exactly these ports and resolves when they are open. After a rejection some may be open, so the caller calls `close`. The signal
   * aborts when the start is cancelled.
   */
  open(mark: string, ports: readonly ExposedPort[], signal: AbortSignal): Promise<void>;
  /** Closes the ports of a run. It must end by itself, and may be called again after a failure. */
  close(mark: string): Promise<void>;
}
