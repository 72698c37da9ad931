/** What a node says of itself when it registers. What is empty or missing is not sent. */
export interface NodeDescription {
  /** The cattle-id: 1 to 63 characters of a label's value. The same id twice is the same machine. */
  readonly id: string;
  readonly nodeName?: string;
  readonly isWorker?: boolean;
  readonly isEtcd?: boolean;
  readonly isControlPlane?: boolean;
  /** `key=value,key=value`. */
  readonly labels?: string;
  /** `key=value:NoSchedule,…`. */
  readonly taints?: string;
  readonly address?: string;
  readonly internalAddress?: string;
}

/** What is asked for. */
export interface RegistrationWanted {
  readonly node: NodeDescription;
  readonly token: string;
  /** The kubeconfig must name its authorities. Default: false. */
  readonly strictTls?: boolean;
  /** For how long is asked again what may yet succeed. Default: 15 min. */
  readonly timeoutMs?: number;
}
