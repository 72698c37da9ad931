/** A port on which a program listens. A {@link PortOpener} opens it while the program runs. */
export interface ExposedPort {
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
}

/** Opens ports in the host's firewall. */
export interface PortOpener {
  /** Returns why no port needs opening, such as "the firewall is off", else undefined. Called once per start. */
  whyNotNeeded?(): string | undefined;
  /** Opens these ports. After a rejection some may be open, so the caller calls `close`. The signal aborts when the start is cancelled. */
  open(
    mark: string,
    ports: readonly ExposedPort[],
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
  /** Always settles. The caller may repeat a failed call. */
  close(mark: string): Promise<void>;
}
