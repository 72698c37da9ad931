/** A port that a program serves. On hosts with a {@link PortOpener} it is open while the program runs. */
export interface ExposedPort {
  readonly protocol: 'tcp' | 'udp';
  /** 1 to 65535. */
  readonly port: number;
}

/** Opens the ports of a run if a firewall would block them. */
export interface PortOpener {
  /** Returns why no port needs opening, such as "the firewall is off", else undefined. Called once per start. Absent: every port is opened. */
  whyNotNeeded?(): string | undefined;
  /** Opens exactly these ports. After a rejection some may be open, so the caller calls `close`. The signal aborts when the start is cancelled. */
  open(mark: string, ports: readonly ExposedPort[], signal: AbortSignal): Promise<void>;
  /** Closes the ports of a run. The promise must always settle; the caller may repeat a failed call. */
  close(mark: string): Promise<void>;
}
