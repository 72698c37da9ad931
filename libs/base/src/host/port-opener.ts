/** A port that a program serves; open while it runs, where something opens ports. */
export interface ExposedPort {
  readonly protocol: 'tcp' | 'udp';
  /** 1 to 65535. */
  readonly port: number;
}

/** Lets traffic reach the ports that a run exposes, where something stands in its way. */
export interface PortOpener {
  /**
   * Why nothing stands in the way of any port now, such as "the firewall is off": then nothing is opened, and the run starts. Undefined
   * when ports have to be opened. Asked once for each start, before its decision is recorded. Absent: they always have to be.
   */
  whyNotNeeded?(): string | undefined;
  /**
   * Opens exactly these ports, and resolves when they are open. When it rejects, some may be: `close` follows. The signal
   * aborts when the start is given up.
   */
  open(mark: string, ports: readonly ExposedPort[], signal: AbortSignal): Promise<void>;
  /** Closes what was opened for a run. It must end by itself, and may be called again after it failed. */
  close(mark: string): Promise<void>;
}
